"""Nash products and alpha fairness of divisible tasks: the Eisenberg-Gale program and its relatives."""
