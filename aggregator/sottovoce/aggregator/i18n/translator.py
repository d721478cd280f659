"""Translate the researchers' pages: catalogue sentences, and numbers, dates and plurals by the rules of a language.

A catalogue is a JSON object of sections, each from keys to sentences with ``{placeholders}``, as in the form's. A
sentence that depends on a number has a key for each plural category of its language (CLDR): ``people_one``,
``people_other``.

The language of a page is chosen from request headers. Shares, intervals, counts, p values and epsilon are written in
one way: a language's own, or the terminal's.
"""

import json
import math
import re
from calendar import Calendar
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache, cached_property
from importlib.resources import files
from operator import itemgetter
from typing import Any
from unicodedata import bidirectional

from babel import Locale
from babel.dates import format_date, format_skeleton, format_time
from babel.numbers import NumberPattern, format_decimal, format_percent
from sottovoce.shared.answers import Grid
from sottovoce.shared.errors import Sentence
from sottovoce.shared.languages import LANGUAGES as OWN_NAMES, numerals
from sottovoce.shared.private_address import private_host
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import TextMap

LOCALES = {"zh-Hans": "zh_Hans"}
"""Names in Babel of languages that have another one there."""

_SENTENCES = frozenset({"note", "reason"})
"""Placeholders that hold other sentences."""

DECIMALS = frozenset({"epsilon", "share", "low", "high", "value", "p", "least", "sum"})
"""Placeholders of a ``Sentence`` that hold a number, with a point before the tenths."""

_ISOLATED = "\u2068{}\u2069"
_HUGE = 1e15
"""Numbers of this size are written with an exponent: a double has no more digits, and Babel fails at 29."""

LANGUAGES = tuple(OWN_NAMES)
"""Languages of the catalogues; the first is the fallback."""

RIGHT_TO_LEFT = frozenset({"ar"})

LANGUAGE_COOKIE = "sottovoce-language"
"""Name of the cookie with the language that a researcher chose."""

EstimateFigures = Mapping[str, Any]
"""Estimate of a result document, with the interval ``low`` and ``high``."""
Show = Callable[[float], str]

DIGITS = 4
RARE = 0.0001
HUNDRED = 100


def sections(language: str) -> dict[str, dict[str, Any]]:
    """Return the texts in one of ``LANGUAGES`` by section and key; those of ``error_pages`` are lists of sentences."""
    catalogue = files("sottovoce.aggregator.i18n").joinpath(f"catalogues/{language}.json")
    return dict(json.loads(catalogue.read_text(encoding="utf-8")))


def direction(tag: str) -> str:
    """Return the direction of writing for HTML, ``ltr`` or ``rtl``, of a language's tag, such as ``ar-EG``."""
    return "rtl" if tag.partition("-")[0] in RIGHT_TO_LEFT else "ltr"


def language_of(accept_language: str) -> str:
    """Return the preferred language of an ``Accept-Language`` header that the pages have, else the fallback."""
    by_name = {tag.partition("-")[0].lower(): tag for tag in LANGUAGES}
    wanted = sorted(accept_weights(accept_language), key=itemgetter(1), reverse=True)
    known = (by_name.get(tag.partition("-")[0]) for tag, weight in wanted if weight > 0)
    return next((tag for tag in known if tag), LANGUAGES[0])


def cookie_language(cookies: str) -> str:
    """Return the chosen language from a ``Cookie`` header; "" if there is none."""
    found = re.search(rf"(?:^|; ?){LANGUAGE_COOKIE}=([A-Za-z-]+)(?:;|$)", cookies)
    return found[1] if found and found[1] in LANGUAGES else ""


def accept_weights(header: str) -> Iterator[tuple[str, float]]:
    """Parse a header such as ``a, b;q=0.5`` into lower-case names with weights; an invalid weight counts as 0."""
    for part in header.lower().split(","):
        name, _, parameters = part.partition(";")
        weight = parameters.replace(" ", "").partition("q=")[2].partition(";")[0]
        try:
            yield name.strip(), float(weight or "1")
        except ValueError:
            yield name.strip(), 0.0


@dataclass(frozen=True)
class Words:
    """Translator of pages into one language."""

    language: str

    @cached_property
    def direction(self) -> str:
        """Direction of writing for HTML: ``ltr`` or ``rtl``."""
        return direction(self.language)

    @cached_property
    def write(self) -> "NumberFormat":
        """Numbers as they are written in this language."""
        return NumberFormat(self)

    def translate(self, key: str, /, **values: object) -> str:
        """Return a sentence with its placeholders filled; whole numbers are formatted for the language, texts are not.

        Raises KeyError if no catalogue has the key, or a placeholder has no value.
        """
        filled = {}
        for name, value in values.items():
            if isinstance(value, int) and not isinstance(value, bool):
                filled[name] = self.number(value)
                continue
            text = str(value)
            from_right = not text.isascii() and any(bidirectional(letter) in ("R", "AL") for letter in text)
            # Isolate texts of the other direction (UAX #9): they would reorder the numbers and punctuation around them.
            filled[name] = _ISOLATED.format(text) if self.direction == "rtl" or from_right else text
        return catalogue(self.language)[key].format(**filled)

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
        """Translate the content of a placeholder if it is a sentence or a tuple of sentences, or a number in a text."""
        if isinstance(value, str) and place in DECIMALS:
            return numerals(value, self.language)
        if isinstance(value, str) and place in _SENTENCES:
            return self.in_this_language(value)
        return "; ".join(map(self.in_this_language, value)) if isinstance(value, tuple) else value

    def count(self, key: str, number: int, /, **values: object) -> str:
        """Return the sentence in the plural form for a number, which fills ``{count}``; ``key`` has no category."""
        category = _locale(self.language).plural_form(number)
        plural_key = f"{key}_{category}" if f"{key}_{category}" in catalogue(self.language) else f"{key}_other"
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
        """Return a survey's text in this language, as zh or pt-BR, else in ``fallback``, the survey's default one."""
        near = (tag for tag in texts if tag.partition("-")[0] == self.language.partition("-")[0])
        return texts.get(self.language) or texts.get(next(near, fallback)) or texts[fallback]


def words_for(language: str) -> Words:
    """Return the studio's translator for this language, else for one with the same primary subtag, else for English."""
    if language in LANGUAGES:
        return Words(language)
    main = language.partition("-")[0]
    return Words(next((known for known in LANGUAGES if known.split("-")[0] == main), LANGUAGES[0]))


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


@cache
def _with(pattern: NumberPattern, decimals: int) -> str:
    """Set the number of decimals in a number pattern of a locale, keeping its grouping and percent sign."""
    whole = pattern.pattern.partition(";")[0].replace(".###", "")
    return whole.replace("0", "0." + "0" * decimals) if decimals else whole


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(LOCALES.get(language, language))


def decimals_of(value: float | None, low: float | None, high: float | None) -> int | None:
    """Return the decimals of a figure and its limits: two significant digits of the distance to the nearer limit.

    At most six; None without both limits, or for a figure outside or on one of them.
    """
    if value is None or low is None or high is None or not low < value < high:
        return None
    return min(max(1 - math.floor(math.log10(min(value - low, high - value))), 0), 6)


@dataclass(frozen=True)
class NumberFormat:
    """Numbers as they are written in one language."""

    words: Words

    def percent(self, share: float | Fraction, decimals: int = 1) -> str:
        """Write a share as a percentage; one that rounds to nothing is 0 and never less."""
        return self.words.percent(round(Fraction(share), decimals + 2), decimals).replace("-", self._minus)

    def points(self, value: float) -> str:
        """Write a difference of shares."""
        return self.words.translate("joint_points", number=self.rounded(100 * value, 1))

    def figure(self, value: float) -> str:
        """Write any other number with four digits, zeros at the end included."""
        size = math.floor(math.log10(abs(value))) if value else 0
        return self.rounded(value, min(max(DIGITS - 1 - size, 0), 6))

    def rounded(self, value: float, decimals: int) -> str:
        """Write a number with so many decimals."""
        written = self.words.number(abs(value), decimals)
        return f"{self._minus}{written}" if value < 0 else written

    def following(self, figures: EstimateFigures, show: Show) -> Show:
        """Return a way to write a figure and its limits with the digits that its interval tells, as 2.7 (1.4 to 4.0).

        ``show`` is the usual way; any other than ``figure`` has fixed digits and is returned.
        """
        decimals = decimals_of(figures.get("shown", figures.get("estimate")), figures["low"], figures["high"])
        # Of any object of this class: two bound methods are equal only if their objects are the same one.
        if getattr(show, "__func__", None) is not type(self).figure or decimals is None:
            return show
        return lambda value: self.rounded(value, decimals)

    def number(self, value: float, grid: Grid | None = None, towards: int = 0, decimals: int | None = None) -> str:
        """Write a number with up to four digits, or with ``decimals``, see ``decimals_of``.

        A ``grid``, of a question whose answers are numbers or dates, rounds and writes its own; ``towards`` is -1 to
        round down on it, 1 to round up.
        """
        written = value if grid is None else grid.figure(value, towards)
        if isinstance(written, str):
            return written
        if decimals is not None:
            return self.rounded(written, decimals)
        short = f"{written:.4g}"
        if "e" in short:
            return short
        return self.words.number(float(short), len(short.partition(".")[2])).replace("-", self._minus)

    def epsilon(self, value: float) -> str:
        """Write epsilon with two decimals, rounded up."""
        return self.words.number(Fraction(show_epsilon(value)), 2)

    def odds(self, value: float) -> str:
        """Write odds to 1 as an upper bound: rounded up to one decimal, which is left out where it is 0."""
        tenths = math.ceil(10 * value - 1e-9)
        return self.words.number(tenths / 10, 1 if tenths % 10 else 0)

    def of_hundred(self, share: Fraction) -> str:
        """Write a share as a number of 100 people; where chance has a say, neither 0 nor 100 is claimed."""
        whole = math.floor(share * HUNDRED + Fraction(1, 2))
        if whole == share * HUNDRED:
            return self.words.number(whole)
        if 0 < whole < HUNDRED:
            return self.words.translate("poster_about", number=self.words.number(whole))
        return f"{'<' if whole <= 0 else '>'} {self.words.number(1 if whole <= 0 else HUNDRED - 1)}"

    def interval(self, low: str, high: str) -> str:
        """Write an interval from its two written limits."""
        return self.words.translate("results_range", low=low, high=high)

    def point(self, value: float | None, show: Show) -> str:
        """Write a figure, or that there is none."""
        return self.words.translate("joint_none") if value is None else show(value)

    def estimate(self, figures: EstimateFigures, show: Show) -> str:
        """Write a figure with the digits of its limits, or that there is none."""
        return self.point(figures.get("shown", figures.get("estimate")), self.following(figures, show))

    def limits(self, figures: EstimateFigures, show: Show) -> str:
        """Write the limits of a figure, either of which may be missing, or that there are none."""
        if figures["low"] is None and figures["high"] is None:
            return self.words.translate("joint_none")
        show = self.following(figures, show)
        none = self.words.translate("joint_no_limit")
        low, high = (none if figures[end] is None else show(figures[end]) for end in ("low", "high"))
        return self.interval(low, high)

    def with_limits(self, figures: EstimateFigures, point: str, show: Show) -> str:
        """Write the figure under the key ``point``, which may be not shown, with its limits."""
        if figures[point] is None and figures["low"] is None and figures["high"] is None:
            return self.words.translate("joint_not_shown")
        shown = self.point(figures[point], self.following(figures, show))
        return self.words.translate("joint_with_limits", figure=shown, limits=self.limits(figures, show))

    def p(self, value: float) -> str:
        """Write a p or q value without its letter."""
        return f"< {self.words.number(RARE, DIGITS)}" if value < RARE else self.words.number(value, DIGITS)

    def p_equals(self, value: float) -> str:
        """Write a p value after its letter."""
        return f"p {self.p(value)}" if value < RARE else f"p = {self.p(value)}"

    @cached_property
    def _minus(self) -> str:
        """Real minus sign, after which no line breaks; a mark keeps it left of its number on Arabic pages too."""
        return "\u200e−" if self.words.direction == "rtl" else "−"


WORDS = {language: Words(language) for language in LANGUAGES}
"""Translators of the pages by their language."""

ENGLISH = WORDS["en"].write
"""Numbers in files and sentences that are in English alone."""


def only_here(link: str, words: Words) -> str:
    """Return the warning for a link to this computer or a private network, "" for a public link."""
    host = private_host(link)
    return words.translate("invite_only_here", host=host) if host else ""


def month_of(day: date, language: str) -> tuple[str, str]:
    """Return month and year in words, and an HTML table of the days in weeks from Monday."""
    locale = Locale.parse(LOCALES.get(language, language))
    weeks = Calendar().monthdatescalendar(day.year, day.month)
    heads = "".join(f'<th scope="col">{format_date(each, "ccccc", locale)}</th>' for each in weeks[0])
    rows = "".join(
        "<tr>" + "".join(f"<td>{each.day if each.month == day.month else ''}</td>" for each in week) + "</tr>"
        for week in weeks
    )
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return format_skeleton("yMMMM", day, locale=locale), table
