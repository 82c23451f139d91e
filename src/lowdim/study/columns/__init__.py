"""What each column of a table is, and what is done with it: numbers, categories, dates, names, labels, text.

`read_table` looks at every column, decides, and says why; `compare` and the command line both use it.
"""

from lowdim.study.columns.column import KINDS, Column
from lowdim.study.columns.table import Table, read_table
from lowdim.study.columns.wishes import Kind, Wishes

__all__ = ["KINDS", "Column", "Kind", "Table", "Wishes", "read_table"]
