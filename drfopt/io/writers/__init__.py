"""Writers: an `Instance` into a file, and any text into a file whole or not at all."""
