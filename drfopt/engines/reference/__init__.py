"""Slow and exact, to be read: progressive filling, Algorithm 1, all integer allocations of a tiny cluster.

Plain lists of `Fraction`s in, `Fraction`s out; no numpy and no solver.  These files judge the engines.
"""
