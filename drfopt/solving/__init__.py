"""The one door, and what is asked through it: allocations, schedules, comparisons, batches, cross-checks."""
