"""Quantiles and tail probabilities of the distributions that intervals and tests are made of."""
