"""Planning: questions an operator asks about a cluster that is, or could be."""
