"""
What the researchers' pages say: sentences of a catalogue, and numbers, dates and plurals as each language writes them.

A catalogue is a flat JSON object from keys to sentences with ``{places}``, in the format of the form's own. A sentence
that depends on a number has a key for each plural category of its language (CLDR): ``people_one``, ``people_other``.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache
from importlib.resources import files
from unicodedata import bidirectional

from babel import Locale
from babel.dates import format_date, format_time
from babel.numbers import NumberPattern, format_decimal, format_percent
from sottovoce.aggregator.i18n.languages import LANGUAGES
from sottovoce.shared.sentence import Sentence
from sottovoce.shared.spec import TextMap

_LOCALES = {"zh-Hans": "zh_Hans"}
RIGHT_TO_LEFT = frozenset({"ar"})

_SENTENCES = frozenset({"note", "reason"})
"""The places of a sentence in which others stand."""

_ISOLATED = "\u2068{}\u2069"


@dataclass(frozen=True)
class Words:
    """
    One language.

    Attributes:
        language: one of ``web.pages.LANGUAGES``.
    """

    language: str

    @property
    def direction(self) -> str:
        """``ltr`` or ``rtl``, as HTML says it."""
        return "rtl" if self.language in RIGHT_TO_LEFT else "ltr"

    def say(self, key: str, /, **values: object) -> str:
        """
        One sentence, its places filled: whole numbers as the language writes them, texts as they are.

        Raises:
            KeyError: no catalogue has the sentence, or a place has no value.
        """
        return catalogue(self.language)[key].format(**{name: self._filled(value) for name, value in values.items()})

    def knows(self, key: str) -> bool:
        """Whether there is a sentence of this key."""
        return key in catalogue(self.language)

    def in_this_language(self, english: str, value: Callable[[str, object], object] | None = None) -> str:
        """
        A sentence known by its English text or pattern alone, as those of errors are.

        Args:
            english: it; if no catalogue has it, it stays as it is.
            value: makes what stands in a place from the place's name and its value; without, sentences are said
                too, and other values stay.
        """
        made = english if isinstance(english, Sentence) else None
        key = _keys().get(made.pattern if made else english)
        if key is None:
            return english
        values = made.values if made else {}
        fill = value or self._within
        return self.say(key, **{name: fill(name, each) for name, each in values.items()})

    def _within(self, place: str, value: object) -> object:
        """What stands in a sentence, which may be a sentence itself, or several."""
        if isinstance(value, str) and place in _SENTENCES:
            return self.in_this_language(value)
        return "; ".join(map(self.in_this_language, value)) if isinstance(value, tuple) else value

    def count(self, key: str, number: int, /, **values: object) -> str:
        """
        The sentence for this number of things, which stands in its place ``{count}``.

        Args:
            key: without the plural category.
            number: of things.
            values: of the sentence's other places.
        """
        category = _locale(self.language).plural_form(number)
        known = catalogue(self.language)
        chosen = f"{key}_{category}" if f"{key}_{category}" in known else f"{key}_other"
        return self.say(chosen, count=number, **values)

    def number(self, value: float | Fraction, decimals: int = 0) -> str:
        """A number with so many decimals, grouped as the language does."""
        locale = _locale(self.language)
        return format_decimal(float(value), format=_with(locale.decimal_formats[None], decimals), locale=locale)

    def percent(self, share: float | Fraction, decimals: int = 1) -> str:
        """A share of 1 as a percentage."""
        locale = _locale(self.language)
        return format_percent(float(share), format=_with(locale.percent_formats[None], decimals), locale=locale)

    def day(self, day: date) -> str:
        """A day, in full."""
        return format_date(day, format="long", locale=_locale(self.language))

    def moment(self, moment: datetime) -> str:
        """A day and a time of day, in UTC, which it says."""
        locale, moment = _locale(self.language), moment.astimezone(UTC)
        day, time = format_date(moment, "long", locale), format_time(moment, "short", tzinfo=UTC, locale=locale)
        return f"{locale.datetime_formats['medium'].format(time, day)} UTC"

    def text(self, texts: TextMap, fallback: str) -> str:
        """
        One of a survey's texts in this language, else in the survey's own.

        Args:
            texts: by language.
            fallback: the survey's default language.
        """
        return texts.get(self.language) or texts[fallback]

    def _filled(self, value: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            return self.number(value)
        # Or a text of the other direction would carry the numbers and marks around it along.
        is_other = self.direction == "rtl" or _from_right(str(value))
        return _ISOLATED.format(value) if is_other else str(value)


def _from_right(text: str) -> bool:
    """Whether a letter of it is written from right to left."""
    return not text.isascii() and any(bidirectional(letter) in ("R", "AL") for letter in text)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Every sentence by its key; those that a language lacks are English."""
    told = _read(language)
    return told if language == LANGUAGES[0] else {**catalogue(LANGUAGES[0]), **told}


@cache
def _keys() -> Mapping[str, str]:
    """The key of each English sentence; of two that are alike the first."""
    return {sentence: key for key, sentence in reversed(list(catalogue(LANGUAGES[0]).items()))}


def _read(language: str) -> dict[str, str]:
    folder = files("sottovoce.aggregator.i18n").joinpath("catalogues", language)
    parts = sorted((part for part in folder.iterdir() if part.name.endswith(".json")), key=lambda part: part.name)
    sentences: dict[str, str] = {}
    for part in parts:
        sentences |= json.loads(part.read_text(encoding="utf-8"))
    return sentences


def _with(pattern: NumberPattern, decimals: int) -> str:
    """A language's own way to group digits, and to write a percentage, with so many decimals."""
    whole = pattern.pattern.partition(";")[0].replace(".###", "")
    return whole.replace("0", "0." + "0" * decimals) if decimals else whole


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(_LOCALES.get(language, language))
