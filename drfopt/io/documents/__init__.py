"""Documents: every JSON that the package prints or reads, as models, and their published schemas."""
