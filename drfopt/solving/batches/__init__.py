"""Hundreds of thousands of small pools of one shape, solved and proven at once."""
