"""The command line and the report page."""
