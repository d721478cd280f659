"""Try what a client must refuse: a survey that costs more than its person allows, another survey than the link names,
and what is no answer. What it asks an aggregator for says nothing about the link.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.exact_channel import inputs_of
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.conformance.client_process import (
    ClientProcess,
    ClientStopped,
    MockAggregator,
    RunObservation,
    Visit,
    link_to,
)
from tests.conformance.request_rules import is_for_reports
from tests.conformance.run_plan import present_of

ALLOWED = "what a person allows"
LINK = "the survey of the link"
ENTERED = "what is entered and is no answer"

_SECRET = "a telling text"
_NO_QUESTION = "no question at all"
_TAPE = hashlib.shake_256(b"what is refused").digest(1 << 14).hex()
_LITTLE = 1e-6

# How the two languages name the errors that they raise on purpose.
_TOO_DEAR = ("BudgetExhausted", "budget_exhausted")
_NO_ANSWER = ("AnswerError", "answer_invalid")


def check_refusals(part: str, survey: Survey, client: ClientProcess) -> list[Check]:
    """Check that a client respects its person's limit and the link's survey, with test keys, repeating no answer."""
    tries = _Tries(survey, client)
    found = {ALLOWED: tries.over_the_limit, LINK: tries.another_survey, ENTERED: tries.repeated}
    return [_check(part, subject, attempt) for subject, attempt in found.items()]


def _check(part: str, subject: str, attempt: Any) -> Check:
    try:
        problem = attempt()
    except (ClientStopped, IndexError):
        problem = "the client stops with an error, or never ends"
    return Check(part, subject, FAILED if problem else PASSED, message=problem)


class _Tries:
    """Attempts that a client must refuse, each on a new device."""

    def __init__(self, survey: Survey, client: ClientProcess) -> None:
        self._survey = survey
        self._client = client

    def over_the_limit(self) -> str:
        """Allow a little less than the survey costs, for one question and for all."""
        survey = self._survey
        costliest = max(question.epsilon for question in survey.questions)
        for allowance in ((None, survey.epsilon * (1 - _LITTLE)), (costliest * (1 - _LITTLE), None)):
            seen = self._tried(survey, link_to(self._origin, survey), allowance=allowance)
            if not _is_refused(seen, _TOO_DEAR) or seen.used[0] or _is_post(seen):
                return "a survey is begun that costs more than the person allows"
        return ""

    def another_survey(self) -> str:
        """Serve another survey, and the one that the link names with and without its digest."""
        survey = self._survey
        title = {**survey.title, survey.default_language: f"{survey.text(survey.title)}."}
        seen = self._tried(parse_survey({**survey.document, "title": title}), link_to(self._origin, survey))
        if not seen.messages[0] or seen.used[0] or _is_post(seen):
            return "another survey is taken than the one that the link names"
        asked = []
        for digest in (None, ""):
            seen = self._tried(survey, link_to(self._origin, survey, digest=digest))
            if seen.messages[0]:
                return "the survey that the link names is refused"
            asked.append([(each.line, each.headers) for each in seen.requests])
        return "" if asked[0] == asked[1] else "what is asked of the aggregator tells which version the link names"

    def repeated(self) -> str:
        """Try one wrong answer for each question in turn, and one without a question; no message may repeat it."""
        right = {each.name: each.answer(inputs_of(each, 2)[0]) for each in self._survey.questions}
        for name in (*right, _NO_QUESTION):
            seen = self._tried(self._survey, link_to(self._origin, self._survey), {**right, name: _SECRET})
            if any(_SECRET.encode() in text for text in _texts(seen)):
                return "what was entered and is no answer is repeated, printed, sent or kept"
            if name not in right and not _is_refused(seen, _NO_ANSWER):
                return "an answer to no question is taken"
        return ""

    @property
    def _origin(self) -> str:
        return self._client.listener.origin

    def _tried(
        self,
        served: Survey,
        link: str,
        answers: Mapping[str, Any] | None = None,
        allowance: tuple[float | None, float | None] | None = None,
    ) -> RunObservation:
        end = "look" if answers is None else ""
        visit = Visit(link, _TAPE, answers or {}, None, allowance, present_of(served, 0), end)
        return self._client.run(MockAggregator({served.name: [served]}), [visit])


def _is_refused(seen: RunObservation, names: tuple[str, ...]) -> bool:
    """Return whether the last message is an error with one of these names."""
    return bool(seen.messages[0]) and seen.messages[0][-1].partition(" ")[0] in names


def _is_post(seen: RunObservation) -> bool:
    return any(is_for_reports(each) for each in seen.requests)


def _texts(seen: RunObservation) -> Iterator[bytes]:
    """Yield all that left the client."""
    yield seen.printed
    yield from (message.encode() for visit in seen.messages for message in visit)
    yield from (content for _, _, content in seen.disk)
    for each in seen.requests:
        yield f"{each.line} {each.headers}".encode() + each.body
        yield from (content for _, _, content in each.disk)
