"""The report page: from the records of a comparison to one HTML file."""
