"""How long the counts of ten million reports of ten questions take to be made anew from the rows."""


def figures() -> None:
    """Print the seconds."""
