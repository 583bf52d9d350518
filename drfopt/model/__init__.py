"""What is divided and what comes out: the instance, the policy, the allocation; checked once, at the door."""
