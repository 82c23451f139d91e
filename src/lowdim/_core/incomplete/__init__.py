"""Rows with missing cells: models of them, completed tables, distances and kernels between them."""
