"""Standalone analysis scripts, exported together with the files of a survey."""
