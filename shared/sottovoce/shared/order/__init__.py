"""Random order of options, rows and items: which there is, and how a drawn one is shown."""
