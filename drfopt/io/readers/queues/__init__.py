"""Queues of the batch schedulers of Kubernetes: Kueue, Volcano, YuniKorn, KAI and Koordinator.

They are cousins: each queue has a parent, a weight, a minimum, a maximum and a priority (`tree.Queue`), and only names,
units and the way a pod says its queue differ.
"""
