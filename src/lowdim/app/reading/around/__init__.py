"""What stands around a table in a text file: lines that programs add, remarks below it, a second table."""

from lowdim.app.reading.around.below import one_table, without_remarks
from lowdim.app.reading.around.forms import as_plain_text
from lowdim.app.reading.around.odd_columns import with_odd_columns

__all__ = ["as_plain_text", "one_table", "with_odd_columns", "without_remarks"]
