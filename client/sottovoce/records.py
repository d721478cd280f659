"""Read, write and draw records of single questions: one randomized answer with its channel, as ``sottovoce-record/1``
or as three columns.

    cheated            the reported option's name, a number in the question's own unit, or the mechanism's code
    cheated_channel    the mechanism and the true values: ``binary_rr a=3/4 b=1/4``
    cheated_once       how long the browser keeps the draw: device, visit or no; 1 and 0 in records of former releases

A block of questions has one record, whose value lists one category for each of them with commas, and three columns for
each question under its own name. The columns alone can be analyzed: ``sottovoce results estimate data.csv``.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import RANDOMIZERS, randomize_joint_rr
from sottovoce.shared.channel_text import channel_question, read_block, split_channel
from sottovoce.shared.errors import AnswerError, SpecError, error_message
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.release import release
from sottovoce.shared.single_question import SingleBlock, SingleQuestion, parse_asked, value_of

FORMAT = "sottovoce-record/1"
ONCE = ("device", "visit", "no")
"""How long a browser keeps a draw, so that it gives the same again: for good, for one visit, or not at all."""

KEYS = ("question", "digest", "report", "value", "mechanism", "channel", "epsilon", "once", "client")

_PATTERNS = {
    "question": re.compile(r"[a-z0-9][a-z0-9_]{0,63}"),
    "digest": re.compile(r"[0-9a-f]{64}"),
    "value": re.compile(r"[^\x00-\x1f]{1,800}"),
    "channel": re.compile(r"[^\x00-\x1f]{1,4000}"),
    "epsilon": re.compile(r"[0-9]\.[0-9]{4}"),
    "client": re.compile(r"[0-9A-Za-z.+-]{1,40}"),
}


@dataclass(frozen=True)
class QuestionRecord:
    """A randomized answer to a single question.

    Attributes:
        digest: SHA-256 of the question's canonical form.
        report: the reported value, as in a survey's report.
        value: the same in words of the data: an option, a number in its own unit, or the code.
        mechanism: the canonical parameters.
        channel: mechanism and true values as text.
        epsilon: with four decimals, rounded up.
        once: one of ``ONCE``, or True and False of a program that tells only if the draw is stored.
        client: version of the program that drew it.
    """

    question: str
    digest: str
    report: int
    value: str
    mechanism: Mapping[str, Any]
    channel: str
    epsilon: str
    once: bool | str
    client: str


def read(text: str | bytes) -> QuestionRecord:
    """Read a record from JSON; raise SpecError, which repeats no value, if it is none or does not fit its channel."""
    try:
        document = json.loads(text)
    except ValueError:
        raise SpecError("the record is not JSON") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT or set(document) != {"format", *KEYS}:
        raise SpecError(f"the record must be a JSON object of format {FORMAT} with: {', '.join(KEYS)}")
    found = QuestionRecord(**{key: document[key] for key in KEYS})
    for key, pattern in _PATTERNS.items():
        if not isinstance(document[key], str) or not pattern.fullmatch(document[key]):
            raise SpecError(f"the record's {key} does not have its form")
    if (type(found.once) is not bool and found.once not in ONCE) or type(found.report) is not int:
        raise SpecError(f"the record's once must be {', '.join(ONCE)}, true or false, and its report a whole number")
    _check(found)
    return found


def write(record: QuestionRecord) -> str:
    """Return a record as JSON, which ``read`` reads back."""
    return json.dumps({"format": FORMAT, **{key: getattr(record, key) for key in KEYS}}, ensure_ascii=False)


def columns(record: QuestionRecord) -> dict[str, str]:
    """Return the three columns of a record by their names; of a block, three for each question."""
    found: dict[str, str] = {}
    once = record.once if isinstance(record.once, str) else str(int(record.once))
    for name, value in _values(record):
        found |= {name: value, f"{name}_channel": record.channel, f"{name}_once": once}
    return found


def simulate(question: Mapping[str, Any], answer: object, draws: Draws | None = None) -> QuestionRecord:
    """Draw a record for an invented answer, as bots need it.

    Args:
        question: as in the list of a survey file, or a block.
        answer: the invented truth, in the form of the question's type; of a block, a map of them by name.
        draws: by default the operating system's.

    Raises:
        SpecError: the question is not one.
        AnswerError: the answer is not possible; the message repeats none of it.
    """
    parsed, draws = parse_asked(question), draws or Draws()
    if isinstance(parsed, SingleBlock):
        names = {asked.name for asked in parsed.questions}
        if not isinstance(answer, Mapping) or set(answer) != names:
            raise AnswerError("the answers to a block are a map of all its questions")
        truths = [asked.encode(answer[asked.name]) for asked in parsed.questions]
        report = parsed.number(randomize_joint_rr(parsed.mechanism, cast("list[int]", truths), draws))
    else:
        mechanism = parsed.mechanism
        report = RANDOMIZERS[mechanism.name](mechanism, parsed.question.encode(answer), draws)
    return record_of(parsed, report, once=False)


def record_of(parsed: SingleQuestion | SingleBlock, report: int, once: bool | str) -> QuestionRecord:
    """Return the record of a drawn report; ``once`` as in ``QuestionRecord``."""
    return QuestionRecord(
        question=parsed.name,
        digest=parsed.digest,
        report=report,
        value=",".join(parsed.values_of(report)),
        mechanism=parsed.mechanism.dump(),
        channel=parsed.channel,
        epsilon=f"{math.ceil(parsed.epsilon * 10**4) / 10**4:.4f}",
        once=once,
        client=release(),
    )


def _check(record: QuestionRecord) -> None:
    """Refuse a record whose channel is none, or cannot have made its report or value."""
    try:
        words = split_channel(record.channel)
        if words.name == JointRR.name:
            mechanism, names = read_block(words)
            if mechanism.dump() != record.mechanism:
                raise SpecError("the record's mechanism is not the one of its channel")
            if not 0 <= record.report < math.prod(mechanism.sizes) or len(record.value.split(",")) != len(names):
                raise SpecError("the record's report and value do not fit its channel")
            return
        asked = channel_question(words, words.pop_levels())
    except (ValueError, KeyError) as error:
        raise SpecError(f"the record's channel {error_message(error)}") from None
    if asked.mechanism is None or asked.mechanism.dump() != record.mechanism:
        raise SpecError("the record's mechanism is not the one of its channel")
    if not asked.admits(record.report) or value_of(asked, record.report) != record.value:
        raise SpecError("the record's report and value do not fit its channel")


def _values(record: QuestionRecord) -> list[tuple[str, str]]:
    """Return each question of a record with its reported value."""
    words = split_channel(record.channel)
    if words.name != JointRR.name:
        return [(record.question, record.value)]
    return list(zip(words.named["with"].split(","), record.value.split(","), strict=True))
