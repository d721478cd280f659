"""The command line: the composition root. It alone may import both sides, and nothing imports it."""
