"""A study in the browser: a server on this machine alone, for one study."""
