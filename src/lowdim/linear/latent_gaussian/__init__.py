"""Linear Gaussian latent variable models: probabilistic PCA, factor analysis, Bayesian PCA."""
