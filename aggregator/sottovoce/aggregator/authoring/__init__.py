"""Surveys while they are being written: drafts, what is wrong with them, what they cost and give. No Flask, no HTML."""
