"""Exact fair division of a cluster."""

__version__ = "0.1.0"
