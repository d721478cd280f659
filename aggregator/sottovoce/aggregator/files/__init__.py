"""The files that a paper, an archive or a colleague needs, and the reader of such folders."""
