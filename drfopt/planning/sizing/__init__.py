"""The cheapest purchase that meets targets: branch and bound over what is bought."""
