"""From what runs today to the fair allocation in few moves."""
