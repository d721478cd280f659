"""The aggregator's web face. Flask lives here and nowhere else."""
