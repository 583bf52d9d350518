"""What one more unit is worth: one-sided sensitivities of the fair division."""
