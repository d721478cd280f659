"""Private questions asked at an address of our own, before the person goes on to another system's survey with a record.

    then: https://docs.google.com/forms/d/e/XYZ/viewform    where the person goes on to
    code: entry.1                                            parameter of ``then`` that takes all reports as one code
    value: a                                                 or, with ``channel`` and ``once``: one for each column
    pass: [wave, {person: token}]                            parameters handed on from our address
    consent: {en: ...}                                       a text, or the https address of one, shown first

These keys stand beside those of a question or block, or beside ``questions``, a list of them. The page of a published
question is the same for all, with the question in its place.

A code carries randomized answers through a field that people see: letters without vowels, which read as nothing.

    number = ((digest * 3 + once) * (size + 1) + report + 1) * 2^20 + check,   report -1 where nothing was answered

Written with 20 letters as digits. ``digest`` are the first 40 bits of the question's, ``size`` is the number of reports
it can have. The check makes the number a multiple of a prime, so that no change of one letter, and no exchange of two
neighbours, gives a code.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from sottovoce.shared import canonical
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.canonical import DigestedDocument
from sottovoce.shared.checks import Reader
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.single_question import SingleBlock, SingleQuestion, language_of, parse_asked
from sottovoce.shared.spec import Question

COLUMNS = ("value", "channel", "once")
KEYS = ("then", "consent", "pass", "code", *COLUMNS)
MOST_QUESTIONS = 20
MOST_PASSED = 5

_ADDRESS = re.compile(
    r"https://(?=[^/?]{4,253}([/?]|$))([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])(:443)?"
    r"(/([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?"
    r"(\?([A-Za-z0-9._~!$&'()*+,;=:@/?\[\]-]|%[0-9A-Fa-f]{2})*)?"
)
_DOTS = re.compile(r"[^?]*/(\.|%2e){1,2}([/?]|$)", re.IGNORECASE)
_MOST_OF_ADDRESS = 1500
_PARAMETER = re.compile(r"[A-Za-z0-9_.\[\]/-]{1,100}")
_PASSED = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_LIMESURVEY = re.compile(
    r"//([a-z0-9-]+\.)*limesurvey\.(net|org)[/?:]|/index\.php/[0-9]|survey/index|[?&/]sid[=/][0-9]|//[^/]+/[0-9]{5,6}([/?]|$)"
)

_SAME = "must be another name than those of all other parameters of the address"
_WRONG_ADDRESS = (
    "must be an address such as https://forms.example.org/survey: https, a host name in ASCII, without a user name, "
    "braces, # or another port than 443"
)
_QUICK_EXIT = "and `then` exclude each other: the answer stays in the browser's history; leave one of them out"
_MIDDLE = "LimeSurvey stores no parameter while an earlier session is open: add newtest=Y to its address"

EMPTY = '<script type="application/json" id="published">{}</script>'
"""What stands in the page in the place of a question."""

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
MOST_LETTERS = 24
"""Of codes that people are to copy."""

ONCE = ("no", "device", "visit")
"""Where a draw was kept, by its number in a code."""

_CHECK = 2**20
_PRIME = 1_048_573
"""The largest prime below ``_CHECK``."""


def code_length(size: int) -> int:
    """Return the number of letters of a question's codes.

    Args:
        size: number of its reports.
    """
    most, length = 2**40 * len(ONCE) * (size + 1) * _CHECK, 0
    while len(LETTERS) ** length < most:
        length += 1
    return length


def write_code(digest: str, size: int, report: int | None, once: int) -> str:
    """Return the code of a report.

    Args:
        digest: of the question, in hexadecimal digits.
        size: number of its reports.
        report: from 0 to below ``size``; None if nothing was answered.
        once: place in ``ONCE``.
    """
    held = (int(digest[:10], 16) * len(ONCE) + once) * (size + 1) + (0 if report is None else report + 1)
    number = held * _CHECK + -held * _CHECK % _PRIME
    letters = ""
    for _ in range(code_length(size)):
        number, place = divmod(number, len(LETTERS))
        letters = LETTERS[place] + letters
    return letters


def read_code(text: str, digest: str, size: int) -> tuple[int | None, int]:
    """Return report and place in ``ONCE`` of a code; spaces and small letters do not count.

    Args:
        text: as the host stored it.
        digest: of the question.
        size: number of its reports.

    Raises:
        ValueError: it is no code of this question, or a letter of it was changed.
    """
    letters = "".join(text.split()).upper()
    number = 0
    for letter in letters if set(letters) <= set(LETTERS) and len(letters) == code_length(size) else "":
        number = number * len(LETTERS) + LETTERS.index(letter)
    rest, report = divmod(number // _CHECK, size + 1)
    found, once = report - 1 if report else None, rest % len(ONCE)
    if letters != write_code(digest, size, found, once):
        raise ValueError("is no code of this question, or was edited")
    return found, once


def published_page(page: bytes, document: bytes, institution: str) -> bytes:
    """Return the page with a question in it, which is else the same for all.

    Args:
        page: with ``EMPTY``.
        document: canonical bytes of a ``LinkQuestion``.
        institution: name of who publishes it; "" for none.
    """
    held = b'{"institution":%s,"question":%s}' % (canonical.dump(institution), document)
    # Nothing in it ends the element that it stands in.
    return page.replace(EMPTY.encode(), EMPTY.encode().replace(b"{}", held.replace(b"<", b"\\u003c")))


@dataclass(frozen=True)
class LinkQuestion(DigestedDocument):
    """One stop of a person: a question, a block, or a list of them, and where the person goes on to.

    Attributes:
        asked: questions and blocks, in order.
        document: the canonical object, shorthand expanded.
    """

    asked: tuple[SingleQuestion | SingleBlock, ...]
    document: Mapping[str, Any]

    @property
    def then(self) -> str:
        """Address of the other system's survey."""
        return str(self.document["then"])

    @property
    def questions(self) -> list[Question]:
        """The questions of all, those of blocks too."""
        return [question for each in self.asked for question in each.questions]

    @property
    def epsilon(self) -> float:
        """Privacy loss of all reports together."""
        return sum(each.epsilon for each in self.asked)

    @property
    def sizes(self) -> list[int]:
        """Number of reports of each question or block."""
        return [
            math.prod(each.mechanism.sizes) if isinstance(each, SingleBlock) else each.question.largest + 1
            for each in self.asked
        ]

    def read(self, code: str) -> tuple[list[int | None], int]:
        """Return the report of each question or block in a code, None where nothing was answered, and its ``once``.

        Raises:
            ValueError: it is no code of this question, or was edited.
        """
        number, once = read_code(code, self.digest, math.prod(self.sizes))
        if number is None:
            return [None] * len(self.asked), once
        reports: list[int | None] = []
        for size, each in reversed(list(zip(self.sizes, self.asked, strict=True))):
            number, report = divmod(number, size)
            if isinstance(each, SingleQuestion) and not each.question.admits(report):
                raise ValueError("is no code of this question, or was edited")
            reports.insert(0, report)
        return reports, once

    def can_read(self, code: str) -> bool:
        """Return True for a code of this question."""
        try:
            return bool(self.read(code))
        except ValueError:
            return False


def is_link(document: object) -> bool:
    """Return True for a document that has to be read by ``parse_link``."""
    return isinstance(document, dict) and bool({*KEYS, "questions"} & document.keys())


def parse_link(document: object) -> LinkQuestion:
    """Parse one stop.

    Raises:
        SpecError: a question cannot be asked alone, or a key does not fit; each mistake with its JSON pointer.
    """
    fields = dict(document) if isinstance(document, dict) else {}
    own = {key: fields.pop(key) for key in KEYS if key in fields}
    reader = Reader()
    if fields.pop("quick_exit", None) is not None:
        reader.problem("/quick_exit", _QUICK_EXIT)
    listed = "questions" in fields
    entries = reader.items(fields.pop("questions"), "/questions", 1, MOST_QUESTIONS) if listed else [fields]
    if listed:
        reader.fields(fields, "", set(), set())
    pointers = [f"/questions/{place}" if listed else "" for place in range(len(entries))]
    asked = [found for found in map(partial(_asked, reader), entries, pointers) if found is not None]
    reader.default_language = language_of(asked[0].questions[0].label) if asked else ""
    then = own.get("then")
    if not _is_address(then):
        reader.problem("/then", _WRONG_ADDRESS)
    elif _LIMESURVEY.search(str(then)) and not re.search(r"[?&/]newtest[=/]Y([&/]|$)", str(then)):
        reader.problem("/then", _MIDDLE)
    if "consent" in own and not _is_address(own["consent"]):
        reader.text_map(own["consent"], "/consent")
    _read_parameters(reader, own)
    if "value" in own and sum(len(each.questions) for each in asked) > 1:
        reader.problem("/value", "holds one question: use `code` for several")
    names = [question.name for each in asked for question in each.questions]
    if len(set(names)) < len(names):
        reader.problem("/questions", "has two questions of one name: rename one")
    if sum(each.epsilon for each in asked) > DEFAULT_ALLOWANCE.total:
        reader.problem("/questions", f"costs more than devices allow in all, epsilon {DEFAULT_ALLOWANCE.total:g}")
    if reader.problems:
        raise SpecError(reader.problems)
    documents = {"questions": [each.document for each in asked]} if listed else asked[0].document
    found = LinkQuestion(tuple(asked), {**documents, **own})
    if "value" not in own and code_length(math.prod(found.sizes)) > MOST_LETTERS:
        message = f"would need more than {MOST_LETTERS} letters: ask fewer questions, or with fewer possible reports"
        raise SpecError([Problem("/code", message)])
    return found


def _asked(reader: Reader, entry: object, pointer: str) -> SingleQuestion | SingleBlock | None:
    try:
        return parse_asked(entry)
    except SpecError as error:
        reader.problems += [Problem(f"{pointer}{problem.pointer}", problem.message) for problem in error.problems]
        return None


def _is_address(value: object) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= _MOST_OF_ADDRESS
        and _ADDRESS.fullmatch(value) is not None
        and _DOTS.match(value) is None
    )


def _read_parameters(reader: Reader, own: Mapping[str, Any]) -> None:
    """Note what is wrong with the names of parameters."""
    taken = [name for name, _ in parse_qsl(urlsplit(str(own.get("then"))).query, keep_blank_values=True)]
    passed = reader.items(own["pass"], "/pass", 1, MOST_PASSED) if "pass" in own else []
    persons = [each for each in passed if isinstance(each, dict)]
    if len(persons) > 1 or any(set(each) != {"person"} for each in persons):
        reader.problem("/pass", "must have names, and one of them at most as {person: NAME}")
    given = {
        f"/pass/{place}": each.get("person") if isinstance(each, dict) else each for place, each in enumerate(passed)
    }
    given |= {f"/{key}": own[key] for key in ("code", *COLUMNS) if key in own}
    for pointer, value in given.items():
        name = reader.match(value, pointer, _PASSED if pointer.startswith("/pass") else _PARAMETER)
        if name in taken:
            reader.problem(pointer, _SAME)
        taken.append(name)
    columns = [key for key in COLUMNS if key in own]
    if columns and ("code" in own or len(columns) < len(COLUMNS)):
        reader.problem(f"/{columns[0]}", "goes with `channel` and `once`, and without `code`")
