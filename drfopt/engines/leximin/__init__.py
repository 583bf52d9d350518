"""Max-min fairness of divisible tasks: filling in pools, chains of linear programs on machines."""
