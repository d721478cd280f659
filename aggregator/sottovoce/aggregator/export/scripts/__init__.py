"""Scripts that are written beside the files of a survey, and run there by themselves."""
