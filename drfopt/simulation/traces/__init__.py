"""Public traces of clusters, read into plain arrays, and what of the paper's figures they can show.

A trace is not carried by the package: get its file and pass the path.
"""
