"""Signing reports' ids without seeing them: keys, the file that holds them, redeeming, verifying."""
