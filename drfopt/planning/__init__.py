"""What planners of a cluster ask: why is it so, what if, what is one more unit worth, what to buy, what to move."""
