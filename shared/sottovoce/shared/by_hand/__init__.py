"""Answers that a coin, a die or a fact of the person's own hides: what surveys may ask so, and what protects them."""
