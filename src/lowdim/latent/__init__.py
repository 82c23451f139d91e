"""Models whose hidden variables are learned by gradients: networks and Gaussian processes, on PyTorch."""
