"""Tables that are too large to be read at once: read, sampled and placed part by part, here or on a cluster."""
