"""Readers of table files: what a file holds is recognised by its content, and what was recognised becomes a note."""
