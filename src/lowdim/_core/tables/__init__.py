"""Tables of rows: columns of data frames, missing cells, alignment of two tables."""
