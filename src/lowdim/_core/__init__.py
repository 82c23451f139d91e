"""The stages every method is made of: small records and plain functions."""
