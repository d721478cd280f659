"""Put values into words: true ones of invented people, and reported ones, which often do not look like an answer."""

from collections.abc import Callable

from sottovoce.client.words import option_in_words, translate
from sottovoce.shared.answers import Value
from sottovoce.shared.mechanisms.square_wave import SquareWave
from sottovoce.shared.spec import Question, Survey
from sottovoce.shared.types.base import grid_of


def reported_in_words(survey: Survey, question: Question, value: int | None) -> str:
    """Return a reported value in words; a dash for a question that was not asked."""
    if value is None:
        return "-"
    if question.neutral and value < 2:
        return translate("report_a" if value else "report_b")
    kind = question.mechanism.report_kind if question.mechanism is not None else ""
    return _REPORTED.get(kind, answered_in_words)(survey, question, value)


def answered_in_words(survey: Survey, question: Question, value: Value) -> str:
    """Return a true value in words."""
    if isinstance(value, tuple):
        named = zip(range(len(value)), value, strict=True)
        return "; ".join(f"{option_in_words(survey, question, index)}: {_number(question, v)}" for index, v in named)
    if question.kind.is_set:
        return _several(survey, question, value)
    if question.domain.grid is None:
        return option_in_words(survey, question, value)
    return _number(question, value)


def _number(question: Question, step: int) -> str:
    return grid_of(question.domain).text(step)


def _several(survey: Survey, question: Question, mask: int) -> str:
    selected = [index for index in range(len(question.options)) if mask >> index & 1]
    return "; ".join(option_in_words(survey, question, index) for index in selected) or translate("none")


def _sampled(survey: Survey, question: Question, value: int, bits: tuple[str, str]) -> str:
    return f"{option_in_words(survey, question, value // 2)}: {translate(bits[value % 2])}"


def _mark(_survey: Survey, question: Question, value: int) -> str:
    return translate("mark", number=str(value + 1), total=str(question.largest + 1))


def _range(_survey: Survey, question: Question, value: int) -> str:
    wave = question.mechanism
    assert isinstance(wave, SquareWave)  # noqa: S101 - the only mechanism of this kind
    first, last = (_number(question, step) for step in wave.span(value))
    return first if first == last else translate("range", first=first, last=last)


_REPORTED: dict[str, Callable[[Survey, Question, int], str]] = {
    "set": _several,
    "bits": _several,
    "drawn_option": lambda survey, question, value: _sampled(survey, question, value, ("no", "yes")),
    "drawn_end": lambda survey, question, value: _sampled(survey, question, value, ("low", "high")),
    "end": lambda _survey, _question, value: translate(("low", "high")[value]),
    "mark": _mark,
    "own_mark": _mark,
    "range": _range,
}
"""Words for reports that do not look like an answer, by their kind."""
