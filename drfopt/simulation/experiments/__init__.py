"""Experiments of the literature, simulated: what was published stands beside what comes out, and what was assumed."""
