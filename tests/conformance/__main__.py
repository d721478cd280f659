"""Run both clients whole on a survey file, and print the checks: ``python -m tests.conformance FILE [--visits]``."""

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from sottovoce.audit.check import FAILED, Check
from sottovoce.client.page import assemble, by_path, opened
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.conformance.client_process import ClientProcess, javascript_client, python_client
from tests.conformance.listener import Listener, MockReply
from tests.conformance.refusals import check_refusals
from tests.conformance.run_plan import plan_runs
from tests.conformance.signing_keys import with_test_keys
from tests.conformance.wire_runs import SUBJECT, check_runs


def checked(part: str, survey: Survey, client: ClientProcess) -> list[Check]:
    """Check quick runs of one client, and what it refuses."""
    runs = check_runs(part, survey, plan_runs(survey, quick=True), client, lambda _share: None)
    return [*runs, *check_refusals(part, survey, client)]


def python_checks(survey: Survey) -> list[Check]:
    with Listener() as listener, python_client(listener) as client:
        return checked("python", survey, client)


def javascript_checks(survey: Survey) -> list[Check]:
    """Run the browser's client under node."""
    node = shutil.which("node")
    assert node is not None
    with Listener() as listener, javascript_client(listener, node, opened()) as client:
        return checked("javascript", survey, client)


def visit_checks(survey: Survey) -> list[Check]:
    """Fill in this installation's form in a browser."""
    from sottovoce.audit.served import chromium

    from tests.conformance import browser_runs

    files = by_path(assemble(), survey.name)
    replies = {path: MockReply(200, asset.body, asset.content_type) for path, asset in files.items()}
    with chromium.limited(), chromium.browser() as browser:
        form = browser_runs.ServedForm(survey, replies, 0)
        return list(browser_runs.check_visits(browser, form, lambda _share: None))


def all_checks(survey: Survey, *kinds: str) -> list[Check]:
    """Make the checks of some kinds; a client that stops with an error has failed."""
    made = {"python": python_checks, "javascript": javascript_checks, "visits": visit_checks}
    checks = []
    for kind in kinds:
        try:
            checks += made[kind](survey)
        except Exception as error:
            checks.append(Check(kind, SUBJECT, FAILED, message=f"the client stops with an error: {error!r}"))
    return checks


if __name__ == "__main__":
    path, *words = sys.argv[1:]
    survey = with_test_keys(parse_survey(json.loads(Path(path).read_bytes())))
    kinds = ["visits"] if "--visits" in words else ["python", "javascript"]
    print(json.dumps({"checks": [asdict(check) for check in all_checks(survey, *kinds)]}))
