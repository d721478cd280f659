"""Estimates from designs in which a fact of the person's own hides the answer."""
