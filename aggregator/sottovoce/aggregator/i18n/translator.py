"""Translate the researchers' pages: catalogue sentences, and numbers, dates and plurals by the rules of a language.

A catalogue is a JSON object of sections, each from keys to sentences with ``{placeholders}``, as in the form's. A
sentence that depends on a number has a key for each plural category of its language (CLDR): ``people_one``,
``people_other``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache
from unicodedata import bidirectional

from babel import Locale
from babel.dates import format_date, format_time
from babel.numbers import NumberPattern, format_decimal, format_percent
from sottovoce.aggregator.i18n.languages import LANGUAGES, direction, sections
from sottovoce.shared.errors import Sentence
from sottovoce.shared.spec import TextMap

LOCALES = {"zh-Hans": "zh_Hans"}
"""Names in Babel of languages that have another one there."""

_SENTENCES = frozenset({"note", "reason"})
"""Placeholders that hold other sentences."""

_ISOLATED = "\u2068{}\u2069"
_HUGE = 1e15
"""Numbers of this size are written with an exponent: a double has no more digits, and Babel fails at 29."""


@dataclass(frozen=True)
class Words:
    """Translator of pages into one language."""

    language: str

    @property
    def direction(self) -> str:
        """Direction of writing for HTML: ``ltr`` or ``rtl``."""
        return direction(self.language)

    def translate(self, key: str, /, **values: object) -> str:
        """Return a sentence with its placeholders filled; integers are formatted for the language.

        Raises KeyError if no catalogue has the key, or a placeholder has no value.
        """
        return catalogue(self.language)[key].format(**{name: self._filled(value) for name, value in values.items()})

    def knows(self, key: str) -> bool:
        """Return True if the catalogue has this key."""
        return key in catalogue(self.language)

    def in_this_language(self, english: str, value: Callable[[str, object], object] | None = None) -> str:
        """Translate a sentence known only by its English text or pattern, such as an error message, if a catalogue has
        it.

        ``value`` maps name and value of a placeholder to its content; without it, sentences in placeholders are
        translated too.
        """
        made = english if isinstance(english, Sentence) else None
        key = _keys().get(made.pattern if made else english)
        if key is None:
            return english
        values = made.values if made else {}
        fill = value or self._within
        return self.translate(key, **{name: fill(name, each) for name, each in values.items()})

    def _within(self, place: str, value: object) -> object:
        """Translate the content of a placeholder if it is a sentence or a tuple of sentences."""
        if isinstance(value, str) and place in _SENTENCES:
            return self.in_this_language(value)
        return "; ".join(map(self.in_this_language, value)) if isinstance(value, tuple) else value

    def count(self, key: str, number: int, /, **values: object) -> str:
        """Return the sentence in the plural form for a number, which fills ``{count}``; ``key`` has no category."""
        category = _locale(self.language).plural_form(number)
        known = catalogue(self.language)
        plural_key = f"{key}_{category}" if f"{key}_{category}" in known else f"{key}_other"
        return self.translate(plural_key, count=number, **values)

    def number(self, value: float | Fraction, decimals: int = 0) -> str:
        """Format a number with the given decimals and the digit grouping of the language; a huge one as 1.234e+30."""
        if abs(float(value)) >= _HUGE:
            return f"{float(value):.4g}"
        locale = _locale(self.language)
        return format_decimal(float(value), format=_with(locale.decimal_formats[None], decimals), locale=locale)

    def percent(self, share: float | Fraction, decimals: int = 1) -> str:
        """Format a share (0..1) as a percentage."""
        locale = _locale(self.language)
        return format_percent(float(share), format=_with(locale.percent_formats[None], decimals), locale=locale)

    def day(self, day: date) -> str:
        """Format a date in the long form."""
        return format_date(day, format="long", locale=_locale(self.language))

    def moment(self, moment: datetime) -> str:
        """Format a date and time in UTC, with the suffix "UTC"."""
        locale, moment = _locale(self.language), moment.astimezone(UTC)
        day, time = format_date(moment, "long", locale), format_time(moment, "short", tzinfo=UTC, locale=locale)
        return f"{locale.datetime_formats['medium'].format(time, day)} UTC"

    def text(self, texts: TextMap, fallback: str) -> str:
        """Return a survey's text in this language, else in ``fallback``, the default language of the survey."""
        return texts.get(self.language) or texts[fallback]

    def _filled(self, value: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            return self.number(value)
        # Isolate texts of the other direction (UAX #9): they would reorder the numbers and punctuation around them.
        return _ISOLATED.format(value) if (self.direction == "rtl" or _from_right(str(value))) else str(value)


def _from_right(text: str) -> bool:
    """Return True if the text has a letter written from right to left."""
    return not text.isascii() and any(bidirectional(letter) in ("R", "AL") for letter in text)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Load the catalogue of a language; missing sentences are filled from English."""
    sentences = _read(language)
    return sentences if language == LANGUAGES[0] else {**catalogue(LANGUAGES[0]), **sentences}


@cache
def _keys() -> Mapping[str, str]:
    """Map English sentences to keys; of two equal sentences the first key wins."""
    return {sentence: key for key, sentence in reversed(list(catalogue(LANGUAGES[0]).items()))}


def _read(language: str) -> dict[str, str]:
    texts = sections(language)
    del texts["error_pages"]
    return {key: sentence for section in texts.values() for key, sentence in section.items()}


def _with(pattern: NumberPattern, decimals: int) -> str:
    """Set the number of decimals in a number pattern of a locale, keeping its grouping and percent sign."""
    whole = pattern.pattern.partition(";")[0].replace(".###", "")
    return whole.replace("0", "0." + "0" * decimals) if decimals else whole


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(LOCALES.get(language, language))
