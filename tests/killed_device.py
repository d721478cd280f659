"""A device that is killed for good before one of its steps: ``python -m tests.killed_device STEP COMMAND ...``."""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import requests
from sottovoce.cli.main import main

STEPS = ("link", "replace", "unlink")
"""What a ledger does on the disk."""


def dying(step: Callable[..., Any], counted: "count[int]", last: int, after: bool = False) -> Callable[..., Any]:
    """The same step; a step beyond ``last`` kills the process; ``after`` counts replies that nobody has read."""

    def take(*words: Any, **options: Any) -> Any:
        _die_at(last, counted)
        taken = step(*words, **options)
        if after:
            _die_at(last, counted)
        return taken

    return take


def _die_at(last: int, counted: "count[int]") -> None:
    if next(counted) == last:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    end, counted = int(sys.argv[1]), count()
    for name in STEPS:
        setattr(os, name, dying(getattr(os, name), counted, end))
    adapter = requests.adapters.HTTPAdapter
    adapter.send = dying(adapter.send, counted, end, after=True)  # type: ignore[method-assign]
    sys.argv[1:2] = []
    main()
