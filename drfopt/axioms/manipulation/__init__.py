"""Misreports: the best response of a user to the others, exact where the policy allows it."""
