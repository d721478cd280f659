"""Meetings of features: random surveys whose printed figures must be those of an independent reference."""
