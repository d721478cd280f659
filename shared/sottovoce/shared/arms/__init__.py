"""Random arms of an experiment: which there are, and what one respondent is asked."""
