"""The properties, one file each: definition, witness, decision."""
