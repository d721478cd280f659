"""Report an audit's results to readers who do not program, promise by promise, and the one sentence of its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.histories import ASKED, PARTLY
from sottovoce.audit.python_code import OUTSIDE
from sottovoce.audit.randomness import DRAWS, SOURCE
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey

EXACT = ("integers", "python", "javascript")
"""The parts about this installation."""


@dataclass(frozen=True)
class Promise:
    """A promise about privacy.

    Attributes:
        text: the promise.
        done: how it was tried; "" where no audit tries it.
        unseen: what was not looked at, where it was tried.
        elsewhere: who looks at it, where it was not tried.
    """

    text: str
    done: str = ""
    unseen: str = ""
    elsewhere: str = ""


CONFORMANCE = "Tests run whole clients before each release, and compare network and disk; an audit runs none."
"""Who looks at what only a whole client shows."""

_CLIENTS_ALONE = "An audit follows the clients, and nothing of an aggregator."

PROMISES = {
    "claim": Promise(
        "What an answer costs follows from the survey's own numbers.",
        "Epsilon was computed anew from the whole numbers that stand in the survey.",
        "Whether people understand it.",
    ),
    "distribution": Promise(
        "Every answer goes through the randomizer that the survey names, with exactly its odds.",
        "The running program was led through every way that chance can take, and its odds added up as fractions.",
        "Where a question has too many answers or ways, all but those that are named with it below.",
    ),
    "leaks": Promise(
        "Nothing else that is sent or stored tells an answer: no id, header, file or message.", elsewhere=CONFORMANCE
    ),
    "source": Promise(
        "Chance comes from the operating system alone, and every byte of it is used as agreed.",
        "The source was followed from the system to each draw; other programs and forks draw their own.",
        "The operating system itself.",
    ),
    "id": Promise("The id of a report is chance alone.", elsewhere=CONFORMANCE),
    "refuse": Promise(
        "What is no possible answer is refused before anything is drawn.",
        "Values outside of each question were handed in.",
        "Every impossible value: there is no end of them.",
    ),
    "limit": Promise(
        "Nothing is begun that costs more than a person allows, and no other survey than the link names.",
        elsewhere=CONFORMANCE,
    ),
    "once": Promise(
        "An answer is drawn once, for one charge; which questions are asked depends on no answer.",
        "Devices were followed through what they draw first, remember and report, along every way.",
        "More waves and corrections than are named below.",
    ),
    "served": Promise(
        "The aggregator serves the survey and the form that this release consists of.",
        "Each file was fetched and compared, byte for byte.",
        "What is served to other people or at another time.",
        "--client LINK looks at what an aggregator serves; 'sottovoce device verify' compares its files.",
    ),
    "receipt": Promise(
        "A receipt shows what was sent, and the report can be taken back until the survey closes.",
        elsewhere=CONFORMANCE,
    ),
    "stored": Promise(
        "The aggregator stores perturbed answers only: no address, cookie or time, and soon no order of arrival.",
        elsewhere=_CLIENTS_ALONE,
    ),
    "kept": Promise("A report that the aggregator has acknowledged is on its disk, once.", elsewhere=_CLIENTS_ALONE),
}
"""Every promise of SECURITY.md, in the words and the steps of an audit."""

UNSEEN = (
    "An audit follows the draws of both clients and compares files. It runs no whole client: what these send and keep "
    "beside the reports is compared before each release. It cannot find a client that is honest while it is audited "
    "and dishonest later, or on another computer."
)
"""What no audit of this kind can see."""

_OF_SUBJECT = {SOURCE: "source", DRAWS: "source", OUTSIDE: "refuse", ASKED: "once", PARTLY: "once"}
_OF_A_CLIENT = ("distribution", "source", "refuse", "once")
_FOUND = {
    PASSED: "Nothing was found that contradicts it.",
    FAILED: "IT IS NOT KEPT",
    NOT_DONE: "Something was not tried",
}


def promises_of(check: Check) -> tuple[str, ...]:
    """Return the keys in ``PROMISES`` of what a check is about."""
    if check.part == "integers":
        return ("claim",)
    if check.part == "files":
        return ("served",)
    if check.subject.endswith("in two waves"):
        return ("once",)
    if check.part == "javascript" and check.subject == "all questions":
        return _OF_A_CLIENT  # that client was not run
    return (_OF_SUBJECT.get(check.subject, "distribution"),)


def promise_results(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """Return for each promise its text, what was done, what was found and what was not looked at."""
    results = []
    for key, promise in PROMISES.items():
        own = [check for check in checks if key in promises_of(check) and check.part != "statement"]
        results.append({"promise": promise.text, **(_tried(promise, own) if own else _not_tried(promise))})
    return results


def _tried(promise: Promise, own: Sequence[Check]) -> dict[str, str]:
    worst = next(outcome for outcome in (FAILED, NOT_DONE, PASSED) if outcome in {each.outcome for each in own})
    reasons = dict.fromkeys(each.message for each in own if each.outcome == worst and each.message)
    found = _FOUND[worst] if worst == PASSED else f"{_FOUND[worst]}: {'; '.join(reasons)}."
    return {"outcome": worst, "done": f"{promise.done} Checks: {len(own)}.", "found": found, "unseen": promise.unseen}


def _not_tried(promise: Promise) -> dict[str, str]:
    return {
        "outcome": NOT_DONE,
        "done": "Nothing was done about it in this audit.",
        "found": "So nothing was found, for or against it.",
        "unseen": f"All of it. {promise.elsewhere}".strip(),
    }


def statement(survey: Survey, checks: Sequence[Check]) -> list[Check]:
    """Return the sentence that may be said of a survey's clients, if everything exact was tried and passed; else
    nothing.
    """
    outcomes = {check.outcome for check in checks if check.part in EXACT}
    if outcomes != {PASSED}:
        return []
    losses = ", ".join(map(show_epsilon, survey.unit_epsilons))
    words = (
        "What both clients report has exactly the distribution that the survey says. It gives epsilon "
        f"{losses}; the whole costs their sum{_of_ask(survey)}, {show_epsilon(survey.epsilon)}. {UNSEEN}"
    )
    return [Check("statement", "in one sentence", PASSED, scope=words)]


def _of_ask(survey: Survey) -> str:
    return "" if survey.ask is None else f" over the {survey.ask} costliest that one person is asked"
