"""Methods that place points so that their distances match dissimilarities as well as they can."""
