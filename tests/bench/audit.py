"""How long the audit of a survey of twenty questions takes, of every type and with every mechanism."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sottovoce.shared.parse_survey import parse_survey

from tests.bench.mechanisms import row
from tests.documents import number, one_of, some_of, survey, vector
from tests.surveys import every_type

WEAK = {"a": "3/5", "b": "2/5"}


def questions() -> list[dict[str, Any]]:
    """Twenty that are randomized: those of every type, and eight larger ones."""
    small = [question for question in every_type() if "mechanism" in question]
    large = [
        one_of(30, {"epsilon": "1"}),
        one_of(200, {"name": "hadamard_response", "odds": "3"}),
        some_of(20, {"name": "bitwise_rr", **WEAK}, max_choices=3),
        some_of(40, {"name": "sampled_option", **WEAK}, max_choices=40),
        number(0, 10_000, 1, {"name": "rounding_rr", **WEAK}),
        number(0, 120, 1, {"name": "geometric", "ratio": "99/100"}),
        number(0, 500, 1, {"epsilon": "2"}),
        vector(5, -1, 1, "0.1", {"name": "sampled_coordinate", **WEAK}),
    ]
    named = [{**question, "name": f"large{index}"} for index, question in enumerate(large)]
    return [*small, *named][:20]


def figures() -> None:
    asked = parse_survey(survey(*questions()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.json"
        path.write_bytes(asked.canonical)
        started = time.perf_counter()
        run = subprocess.run(
            [sys.executable, "-m", "sottovoce.cli", "audit", str(path), "--json"], capture_output=True, check=False
        )
        seconds = time.perf_counter() - started
    report = json.loads(run.stdout)
    for part in ("integers", "python", "javascript"):
        checks = [check for check in report["checks"] if check["part"] == part]
        print(f"  {part}: {len(checks)} checks, {sum(check['outcome'] != 'passed' for check in checks)} not passed")
    row(f"audit: {len(asked.questions)} questions", seconds, "s", "< 60")
