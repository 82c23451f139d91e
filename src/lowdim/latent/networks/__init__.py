"""Neural networks: autoencoders, variational autoencoders, nonlinear PCA and its inverse."""
