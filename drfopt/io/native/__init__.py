"""The instance file of this package, in TOML, JSON or YAML: its schema, reading and writing."""
