"""The agreement between respondent and aggregator: surveys, mechanisms, reports. Standard library only, no I/O."""
