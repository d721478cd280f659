"""Give the client's texts in the person's language: sentences of the catalogues, and a survey's texts, safe to show."""

import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from functools import cache, reduce

from sottovoce.client.bundle import sentences
from sottovoce.shared.by_hand.own_coin import procedure
from sottovoce.shared.languages import LANGUAGES, numerals
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR
from sottovoce.shared.odds_in_words import odds_in_words as odds_in_words_of, of_hundred
from sottovoce.shared.spec import Question, Survey, TextMap

# A terminal obeys these: a survey could otherwise rewrite what was said about its odds.
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_LANGUAGE: ContextVar[str] = ContextVar("language", default="en")


def choose_language(survey: Survey | None = None, environment: Mapping[str, str] = os.environ) -> None:
    """Choose the language of what is said from now on: the reader's, if the survey has a text in it, else the survey's;
    English where no catalogue has either.

    Args:
        survey: None as long as it is unknown, and then the reader's language is taken.
        environment: names the reader's language as POSIX does, such as LANG=de_AT.UTF-8.
    """
    readers = readers_languages(environment)
    if survey is None:
        wanted = readers
    else:
        offered = survey.title
        own = [tag for tag in LANGUAGES if tag.partition("-")[0] == survey.default_language.partition("-")[0]]
        wanted = [tag for tag in readers if any(tag.startswith(each.partition("-")[0]) for each in offered)] or own
    _LANGUAGE.set(next(iter(wanted), "en"))


def readers_languages(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the language that an environment names, as LANG=de_AT.UTF-8 does; empty if no catalogue has it."""
    named = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    return [tag for tag in LANGUAGES if tag.partition("-")[0] == re.split("[_.@-]", named)[0].lower()]


def odds_in_words(question: Question) -> str:
    """Return a few sentences about what is sent for this question, and its epsilon."""
    return odds_in_words_of(question, catalogue(_LANGUAGE.get()), _LANGUAGE.get())


def share_in_words(share: Fraction) -> str:
    """Return a share, from 0 to 1, as people of 100."""
    return of_hundred(share, catalogue(_LANGUAGE.get()))


def by_hand_in_words(question: Question) -> list[str]:
    """Return instructions for a coin or a die, a line for each outcome; empty for a question that needs neither."""
    made = None if question.mechanism is None else procedure(question.mechanism)
    if made is None:
        return []
    first = translate("own_coin", flips=str(made.flips)) if made.flips else translate("own_die")
    steps = [translate(f"own_{part.action}", outcome=_outcome(made.flips, part.outcomes)) for part in made.parts]
    return [first, *(f"  {step}" for step in steps), translate("own_note")]


def second_statement_in_words(survey: Survey, mechanism: InnocuousRR) -> list[str]:
    """Return instructions for a question that a fact of the person's own hides, a line each."""
    second, note = f"  {text_of(survey, mechanism.label)}", translate("innocuous_note")
    if mechanism.is_crosswise:
        return [translate("crosswise_second"), second, translate("crosswise_how"), note]
    faces = str(int(6 * mechanism.truth))
    outcome = faces if faces == "1" else translate("range", first="1", last=faces)
    return [translate("unrelated_die", outcome=outcome), second, note]


def text_of(survey: Survey, texts: TextMap) -> str:
    """Return one of the survey's texts, without characters that a terminal would obey instead of showing them."""
    base = _LANGUAGE.get().partition("-")[0]
    tag = next((tag for tag in texts if tag.partition("-")[0] == base), None)
    return _OBEYED.sub("\ufffd", survey.text(texts, tag))


def option_in_words(survey: Survey, question: Question, index: int) -> str:
    """Return the label of the option, or of the coordinate, with this index, from 0."""
    if question.domain.absent and index == question.absent:
        return translate("absent")
    if question.by_fact:
        return translate(question.by_fact.answers[index])
    if not question.choices:
        return translate(question.options[index])
    return text_of(survey, question.choices[index].label)


def translate(key: str, **values: str) -> str:
    """Return one sentence in the chosen language, its placeholders filled."""
    language = _LANGUAGE.get()
    return catalogue(language)[key].format(**{name: numerals(value, language) for name, value in values.items()})


def in_sequence(*told: str) -> str:
    """Return sentences as the chosen language puts them one after the other."""
    return translate("gap").join(told)


def _outcome(flips: int, outcomes: Sequence[str | int]) -> str:
    if not flips:
        first, last = map(str, outcomes)
        return first if first == last else translate("range", first=first, last=last)
    rows = [[translate("heads" if side == "H" else "tails") for side in str(row)] for row in outcomes]
    texts = [reduce(lambda one, other: translate("then", first=one, second=other), row) for row in rows]
    return reduce(lambda one, other: translate("or", first=one, second=other), texts)


@cache
def catalogue(language: str = "en") -> dict[str, str]:
    """Return every sentence of a language (one of ``LANGUAGES``) by its key."""
    return {key: text for section in sentences(language).values() for key, text in section.items()}
