"""Seconds until the client can be used, beside ``requests`` alone, and until the command's list of verbs is shown."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

ROUNDS = 15


def milliseconds(command: Sequence[str]) -> float:
    """The time of one whole process."""
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return (time.perf_counter() - started) * 1e3


def figures() -> None:
    """Medians of processes started in turn; the empty interpreter is taken off the ratio of the imports."""
    commands = {
        "python alone": [sys.executable, "-c", ""],
        "import requests": [sys.executable, "-c", "import requests"],
        "import sottovoce.client": [sys.executable, "-c", "import sottovoce.client"],
        "sottovoce --help": [sys.executable, "-m", "sottovoce.cli", "--help"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(milliseconds(command))
    medians = {name: statistics.median(found) for name, found in times.items()}
    for name, median in medians.items():
        print(f"{name:<64} {median:>10,.0f} ms")
    empty, requests, client, _ = medians.values()
    ratio = (client - empty) / (requests - empty)
    print(f"{'import of the client, as a multiple of requests':<64} {ratio:>10,.2f} x  asked: <= 2")


if __name__ == "__main__":
    figures()
