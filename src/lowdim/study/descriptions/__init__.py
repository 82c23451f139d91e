"""What a table holds before any method sees it: columns and missing cells, or distances between items."""
