"""Linear methods of rows that come in blocks: sums over the blocks, their triangles, and products with them."""
