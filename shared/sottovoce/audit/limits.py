"""
The part of an audit that tries what a client refuses: a survey that costs more than its person allows, and another
survey than the link names. What it asks an aggregator for says nothing about the link.
"""

import hashlib
import math
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.exact_channel import inputs_of
from sottovoce.audit.watched_device import ORIGIN, READ, REQUEST, TOKEN, Event, Watch, watched
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.respondent import Respondent
from sottovoce.client.transport import Transport
from sottovoce.shared.allowance import Allowance
from sottovoce.shared.answers import Value
from sottovoce.shared.errors import AnswerError, BudgetExhausted, SurveyError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

ALLOWED = "what a person allows"
LINK = "the survey of the link"
ENTERED = "what is entered and is no answer"

_SECRET = "a telling text"
_TAPE = hashlib.shake_256(b"what is refused").digest(1 << 14)

_LITTLE = 1e-6
_ANY_PRICE = Allowance(math.inf, math.inf)


def check_limits(survey: Survey) -> list[Check]:
    """That the Python client keeps to what its person allows and to the link's survey, and repeats no wrong answer."""
    return [
        _check(ALLOWED, _over_the_limit(survey)),
        _check(LINK, _another_survey(survey)),
        _check(ENTERED, _repeated(survey)),
    ]


def _check(subject: str, problem: str) -> Check:
    return Check("python", subject, FAILED if problem else PASSED, message=problem)


def _over_the_limit(survey: Survey) -> str:
    costliest = max(question.epsilon for question in survey.questions)
    too_little = Allowance(math.inf, survey.epsilon * (1 - _LITTLE)), Allowance(costliest * (1 - _LITTLE), math.inf)
    for allowance in too_little:
        error, events = _tried(survey, partial(_begin, survey, allowance))
        if not isinstance(error, BudgetExhausted) or any(event.kind in {READ, REQUEST} for event in events):
            return "a survey is begun that costs more than the person allows"
    return ""


def _begin(survey: Survey, allowance: Allowance, ledger: FileLedger, transport: Transport) -> object:
    return Respondent(survey, transport, ledger, allowance=allowance, token=TOKEN)


def _another_survey(survey: Survey) -> str:
    language = survey.default_language
    title = {**survey.title, language: f"{survey.text(survey.title)}."}
    other = parse_survey({**survey.document, "title": title})
    error, _ = _tried(other, partial(_connect, survey, f"d={survey.digest[:32]}&"))
    if not isinstance(error, SurveyError):
        return "another survey is taken than the one that the link names"
    asked = []
    for named in (f"d={survey.digest[:32]}&", ""):
        error, events = _tried(survey, partial(_connect, survey, named))
        asked.append([event.what for event in events if event.kind == REQUEST])
        if error is not None:
            return "the survey that the link names is refused"
    return "" if asked[0] == asked[1] else "what is asked of the aggregator tells which version the link names"


def _repeated(survey: Survey) -> str:
    """One wrong answer in each question's turn, and for no question: it comes to nothing, and nobody repeats it."""
    right = {each.name: each.answer(value) for each, value in zip(survey.questions, _ordinary(survey), strict=True)}
    for name in (*right, "no question at all"):
        error, events = _tried(survey, partial(_answer, survey, {**right, name: _SECRET}))
        told = [str(error), *getattr(error, "__notes__", ()), *(repr(event.what) for event in events)]
        if any(_SECRET in text for text in told):
            return "what was entered and is no answer is repeated, printed, sent or kept"
        if name not in right and not isinstance(error, AnswerError):
            return "an answer to no question is taken"
    return ""


def _ordinary(survey: Survey) -> list[Value]:
    return [inputs_of(question, 2)[0] for question in survey.questions]


def _answer(survey: Survey, answers: dict[str, object], ledger: FileLedger, transport: Transport) -> object:
    return Respondent(survey, transport, ledger, allowance=_ANY_PRICE, token=TOKEN).answer(answers)


def _connect(survey: Survey, named: str, ledger: FileLedger, transport: Transport) -> object:
    token = f"t={TOKEN}&" if survey.asks_for_invitation else ""
    link = f"{ORIGIN}/s/{survey.name}#{named}{token}w=0"
    return Respondent.connect(link, ledger, reach=lambda _origin: transport, allowance=_ANY_PRICE)


def _tried(served: Survey, attempt: Callable[[FileLedger, Transport], object]) -> tuple[Exception | None, list[Event]]:
    """How an attempt on a new device ends, where an aggregator serves this survey; and what happens in it."""
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(served, _TAPE, (), Path(folder))
        ended: Exception | None = None
        with watched(watch):
            try:
                attempt(FileLedger(Path(folder) / "ledger"), Transport(ORIGIN, sleep=watch.sleep))
            except Exception as error:  # whatever it is, it is how the attempt ends
                ended = error
        watch.note_files()
    return ended, watch.events
