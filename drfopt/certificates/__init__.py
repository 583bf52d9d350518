"""Proofs of allocations, computed from the instance and the numbers alone. Engines are not trusted."""
