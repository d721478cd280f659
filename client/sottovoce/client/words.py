"""Texts of the client: sentences of the web client's catalogue, and a survey's own texts made safe to show."""

import json
import re
from collections.abc import Sequence
from functools import cache, reduce
from importlib.resources import files

from sottovoce.shared.odds_in_words import odds_in_words as odds_in_words_of
from sottovoce.shared.own_coin import procedure
from sottovoce.shared.spec import Question, Survey, TextMap

# A terminal obeys these: a survey could otherwise rewrite what was said about its odds.
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def odds_in_words(question: Question) -> str:
    """A few sentences about what is sent for this question, and its epsilon."""
    return odds_in_words_of(question, catalogue())


def by_hand_in_words(question: Question) -> list[str]:
    """Instructions for a coin or a die, a line for each outcome; empty for a question that needs neither."""
    made = None if question.mechanism is None else procedure(question.mechanism)
    if made is None:
        return []
    first = translate("own_coin", flips=str(made.flips)) if made.flips else translate("own_die")
    steps = [translate(f"own_{part.action}", outcome=_outcome(made.flips, part.outcomes)) for part in made.parts]
    return [first, *(f"  {step}" for step in steps), translate("own_note")]


def text_of(survey: Survey, texts: TextMap) -> str:
    """One of the survey's texts, without characters that a terminal would obey instead of showing them."""
    return _OBEYED.sub("\ufffd", survey.text(texts))


def option_in_words(survey: Survey, question: Question, index: int) -> str:
    """
    The label of the option, or of the coordinate, with this index.

    Args:
        survey: the survey, for its texts.
        question: one of its questions.
        index: of the option or coordinate, from 0.
    """
    if question.domain.absent and index == question.absent:
        return translate("absent")
    if question.kind.truth == "yes_no":
        return translate(question.options[index])
    return text_of(survey, question.choices[index].label)


def translate(key: str, **values: str) -> str:
    """One sentence of the catalogue, its placeholders filled."""
    return catalogue()[key].format(**values)


def _outcome(flips: int, outcomes: Sequence[str | int]) -> str:
    if not flips:
        first, last = map(str, outcomes)
        return first if first == last else translate("range", first=first, last=last)
    rows = [[translate("heads" if side == "H" else "tails") for side in str(row)] for row in outcomes]
    texts = [reduce(lambda one, other: translate("then", first=one, second=other), row) for row in rows]
    return reduce(lambda one, other: translate("or", first=one, second=other), texts)


@cache
def catalogue() -> dict[str, str]:
    """Every sentence by its key."""
    text = files("sottovoce.client").joinpath("web", "catalogues", "en.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
