"""Why each user has what it has, and what would raise it."""
