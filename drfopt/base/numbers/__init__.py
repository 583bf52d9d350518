"""Exact numbers: quantities as people write them, fractions at scale, enclosures, surds and polynomials."""
