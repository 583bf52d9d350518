"""The largest sums: linear programs."""
