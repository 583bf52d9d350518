"""Files as text, rows and trees: every fault is one line that names the file; written whole or not at all."""
