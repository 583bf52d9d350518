"""Kubernetes: nodes, pods, what makes pods, and quotas."""
