"""Files and functions of Python that one request enters: a crosstab of a closed survey, with the process that computes
it, and opening Design; templates are left out.

A crosstab of other questions and another draft come first, so that only what each request needs is counted: neither
what is imported once, nor what a cache keeps.
"""

import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.jobs import queue
from sottovoce.aggregator.analysis.jobs.child import Job, answer, pack_job
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import Settings

from tests.bench.mechanisms import row
from tests.surveys import survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.analysis.closed_surveys import states

SITE = "https://survey.example.org"
PROGRAM = f"{Path(__file__).parents[2]}/"
OF_PROGRAM = re.compile(rf"{re.escape(PROGRAM)}(?:aggregator|client|shared)/.*\.py").fullmatch
GOALS = {"a crosstab": (45, 258), "opening Design": (50, 254)}
"""Most files, and three quarters of the functions of 2026-11-27, which were 344 and 339 in 72 files each."""


class InThisProcess(queue.Worker):
    """Computes a job where its calls are seen."""

    def __init__(self) -> None:
        """Start nothing."""

    @property
    def is_alive(self) -> bool:
        return True

    def run(self, job: Job, progress: Callable[[int, int], None]) -> dict[str, Any]:  # noqa: ARG002
        """The reply of the process, to the bytes that it would get."""
        return answer(b"".join(map(bytes, pack_job(job))))

    def close(self) -> None:
        """Nothing to end."""


@contextmanager
def entered() -> Iterator[set[CodeType]]:
    """Collect the functions of the program that any thread enters."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Of frames without a name only lambdas are functions: the others are loops that were written inside one.
        if event == "call" and (code.co_name[0] != "<" or code.co_name == "<lambda>") and OF_PROGRAM(code.co_filename):
            found.add(code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def get(client: FlaskClient, path: str) -> set[CodeType]:
    with entered() as found:
        reply = client.get(f"/dashboard/surveys/{path}", base_url=SITE)
    assert reply.status_code == 200, reply.text
    return found


def crosstab(client: FlaskClient, columns: str) -> set[CodeType]:
    return get(client, f"done/tables?kind=crosstab&rows=cheated&columns={columns}")


def figures() -> None:
    with tempfile.TemporaryDirectory() as folder, patch.object(queue, "Worker", InThisProcess):
        storage = states(Path(folder))
        client = log_in(create_app(Settings(public_url=SITE), storage, now, {}))[0]
        for name in ("first", "second"):
            storage.drafts.add(name, draft_of(survey(name=name).document).dumped)
        crosstab(client, "year")
        get(client, "first/design")
        requests = {"a crosstab": crosstab(client, "reason"), "opening Design": get(client, "second/design")}
        storage.close()
    for request, functions in requests.items():
        files, calls = GOALS[request]
        row(f"{request}: files entered", len({code.co_filename for code in functions}), "", f"<= {files}")
        row(f"{request}: functions entered", len(functions), "", f"<= {calls}")


if __name__ == "__main__":
    figures()
