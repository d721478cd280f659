"""The verdict of an audit: what was not done is no pass, and what failed once has failed."""

import pytest
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.run import Order, report

from tests.surveys import survey


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((PASSED, PASSED), "passed"),
        ((PASSED, NOT_DONE), "incomplete"),
        ((NOT_DONE, FAILED), "failed"),
        ((), "incomplete"),
    ],
)
def test_verdict_is_that_of_the_worst_check(outcomes: tuple[str, ...], verdict: str) -> None:
    """Nothing at all is no pass either."""
    checks = [Check("python", "q", outcome) for outcome in outcomes]

    assert report(Order(survey()), checks)["verdict"] == verdict


def test_checks_are_listed_in_the_order_of_the_parts() -> None:
    """Whatever order they were made in."""
    checks = [Check(part, "q", PASSED) for part in ("frame", "python", "files", "integers")]
    document = report(Order(survey()), checks)

    assert [check["part"] for check in document["checks"]] == ["integers", "python", "files", "frame"]
