"""Checks of the mechanisms for data in trusted hands."""
