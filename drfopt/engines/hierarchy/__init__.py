"""Guarantees, tiers and groups of divisible tasks."""
