"""Readers: a cluster's own files into an `Instance`; one file or folder a format."""
