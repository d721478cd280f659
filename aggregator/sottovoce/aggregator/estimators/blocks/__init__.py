"""Estimates from blocks of questions that are randomized together."""
