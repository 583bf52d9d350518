"""Engines: one algorithm a file, each a pure function from a `Problem` to an `Answer`, by what they solve."""
