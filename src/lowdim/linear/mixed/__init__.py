"""Categories, counts and mixed tables: FAMD, MCA, CA and factor maps."""
