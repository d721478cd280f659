"""What is said of an audit is what was done: its verdict, and each check under its promise."""

import re
from dataclasses import asdict
from pathlib import Path

import pytest
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.promises import PROMISES, UNSEEN, promise_results, statement
from sottovoce.audit.run import Order, report
from sottovoce.audit.text import lines

from tests.surveys import survey

ONE = survey()


def test_sentence_has_its_real_counts() -> None:
    """The epsilons of the survey, and what no audit sees."""
    [check] = statement(ONE, [Check("python", "cheated", PASSED)])

    assert "gives epsilon 1.10, 1.10; the whole costs their sum, 2.20." in check.scope
    assert check.scope.endswith(UNSEEN)


@pytest.mark.parametrize("outcome", [FAILED, NOT_DONE])
@pytest.mark.parametrize("part", ["integers", "python", "javascript"])
def test_sentence_is_not_said_of_what_did_not_pass(part: str, outcome: str) -> None:
    """Nor of what was not tried, nor where nothing could be tried."""
    assert statement(ONE, [Check(part, "cheated", outcome)]) == []
    assert statement(ONE, []) == []


def test_promise_that_is_not_kept_says_why() -> None:
    checks = [
        Check("python", "from bytes to draws", FAILED, message="bytes are passed over"),
        Check("python", "q", PASSED),
        Check("javascript", "q", NOT_DONE, message="node is not installed"),
    ]
    results = {each["promise"]: each for each in promise_results(checks)}

    assert results[PROMISES["source"].text]["found"] == "IT IS NOT KEPT: bytes are passed over."
    assert results[PROMISES["distribution"].text]["found"] == "Something was not tried: node is not installed."
    untried = {text for text, each in results.items() if each["done"] == "Nothing was done about it in this audit."}
    assert untried == {promise.text for promise in PROMISES.values()} - {
        PROMISES[key].text for key in ("source", "distribution")
    }


IN_SECURITY = {
    "What leaves a device": {"claim", "distribution", "leaks", "source", "id", "refuse", "limit"},
    "One person": {"once"},
    "The aggregator stores": {"stored"},
    "Within a minute": {"stored"},
    "What was withdrawn": {"stored"},
    "Our timers": {"stored"},
    "A question in another survey": {"limit"},
    "An acknowledged report": {"kept"},
    "Who answers can check": {"served", "limit"},
    "A receipt shows": {"receipt"},
}

"""How each promise of SECURITY.md begins, and what of the report it is."""


def test_every_promise_of_the_project_has_a_line() -> None:
    """With what was done, found and not looked at, also where nothing was; and there is no other line."""
    text = (Path(__file__).parents[3] / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z].*?) \|", text, re.MULTILINE)
    results = promise_results([])

    assert [[key for key in IN_SECURITY if row.startswith(key)] for row in rows] == [[key] for key in IN_SECURITY]
    assert set.union(*IN_SECURITY.values()) == set(PROMISES)
    assert [each["promise"] for each in results] == [promise.text for promise in PROMISES.values()]
    assert all(each["outcome"] == NOT_DONE and each["unseen"].startswith("All of it.") for each in results)


OF_CLIENT = {"distribution", "source", "refuse", "once"}


@pytest.mark.parametrize(
    ("check", "promises"),
    [
        (Check("javascript", "impossible answers", FAILED, message="m"), {"refuse"}),
        (Check("javascript", "source of randomness", PASSED), {"source"}),
        (Check("javascript", "all questions", NOT_DONE, message="node is not installed"), OF_CLIENT),
        (Check("files", "survey", FAILED, message="m"), {"served"}),
        (Check("python", "lately in two waves", FAILED, message="m"), {"once"}),
    ],
    ids=lambda one: one.subject if isinstance(one, Check) else "",
)
def test_check_is_told_under_its_own_promise(check: Check, promises: set[str]) -> None:
    """Whoever reads that a promise is not kept, or was not tried, reads of the right one."""
    own = {key for key in PROMISES for each in promise_results([check]) if each["promise"] == PROMISES[key].text
           and each["done"] != "Nothing was done about it in this audit."}  # fmt: skip

    assert own == promises


def test_text_tells_promises_and_the_sentence() -> None:
    check = statement(ONE, [Check("python", "q", PASSED)])[0]
    document = {
        "title": "T", "survey": "s", "revision": 1, "digest": "0", "epsilon": 1.0, "verdict": PASSED,
        "promises": promise_results([Check("python", "q", PASSED)]), "checks": [asdict(check)],
    }  # fmt: skip
    text = " ".join(" ".join(lines(document)).split())

    assert "What is promised, and what this audit found" in text
    assert check.scope in text
    assert UNSEEN in text


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
    checks = [Check(part, "q", PASSED) for part in ("frame", "python", "files", "integers")]
    document = report(Order(survey()), checks)

    assert [check["part"] for check in document["checks"]] == ["integers", "python", "files", "frame"]
