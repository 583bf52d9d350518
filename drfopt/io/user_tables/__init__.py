"""Users in Parquet files, or in a Dask collection, part by part: an instance that no memory has to hold.

    cpu, memory ...     a column for each resource of the cluster: what one task needs; numbers, 0 for none
    weight              positive; optional, an empty cell is 1
    max_tasks           the most tasks; optional, an empty cell is no limit
    machines            the classes that a user may use, as a list of names or as a text "large|small"; optional, an
                        empty cell is all of them
    name                optional; it is copied into the answer

The cluster comes from a native instance file without users.  A part is some row groups of a file, and becomes an
`Instance` of its users and the capacity of the whole cluster, checked like any other.
"""
