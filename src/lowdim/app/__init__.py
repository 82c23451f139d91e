"""The command line: tables in, maps, scores and reports out."""
