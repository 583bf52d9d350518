"""Fairness properties: audited on an instance, claimed and proven for all, searched for counterexamples."""
