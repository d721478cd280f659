"""``python -m sottovoce.cli`` is the ``sottovoce`` command."""

from sottovoce.cli.main import main

main()
