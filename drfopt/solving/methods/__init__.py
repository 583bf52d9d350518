"""Second methods for a cross-check, which share no code with the engines."""
