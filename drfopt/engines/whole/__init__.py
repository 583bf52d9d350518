"""Whole tasks: frontiers, counting programs, searches and packings."""
