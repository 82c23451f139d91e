"""Maps of single columns: selection, scaling, and checks of their order in pipelines."""
