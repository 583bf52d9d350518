"""What knows nothing of fairness: errors, numbers, solvers, tables, progress and parallel work."""
