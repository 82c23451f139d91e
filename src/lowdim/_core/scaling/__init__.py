"""Classical scaling: centring of squared distances, additive constants, and the eigenproblem."""
