"""Search for counterexamples among small instances."""
