"""Commands that install an extra of the package, for messages."""


def install_command(extra: str) -> str:
    """
    Return the commands that install an extra from a checkout or a wheel.

    A bare ``sottovoce[...]`` would ask a package index, where the name may belong to others.
    """
    return f'pip install ".[{extra}]" in a checkout, or pip install "FILE.whl[{extra}]" with the file of the release'
