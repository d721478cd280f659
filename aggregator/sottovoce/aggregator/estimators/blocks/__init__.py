"""Estimates from blocks of questions that are reported together."""
