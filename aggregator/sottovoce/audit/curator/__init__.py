"""Check the mechanisms for data in trusted hands."""
