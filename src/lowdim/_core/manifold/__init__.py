"""What methods on neighbour graphs share: neighbourhoods, connected components, random walks, reduced eigenproblems."""
