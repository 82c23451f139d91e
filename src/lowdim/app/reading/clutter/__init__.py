"""What people and programs put around tables and numbers in text: drawn lines, remarks, signs, other digits."""
