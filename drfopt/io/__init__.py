"""Files in and out: the native instance file, what clusters and other schedulers write, packaged instances."""
