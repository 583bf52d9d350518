"""Changes to a cluster as a planner writes them."""
