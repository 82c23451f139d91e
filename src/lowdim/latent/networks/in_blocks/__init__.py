"""Networks trained on rows that come in blocks, or batch after batch."""
