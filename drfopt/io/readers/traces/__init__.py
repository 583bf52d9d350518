"""Public traces of production clusters, as instances."""
