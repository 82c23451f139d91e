"""Methods that end in an eigenproblem of distances, kernels or graphs."""
