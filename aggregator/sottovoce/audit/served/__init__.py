"""Check the form that an aggregator serves, in a browser."""
