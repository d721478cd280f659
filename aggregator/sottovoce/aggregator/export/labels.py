"""Labels for files of reports: of questions, options and reported values, and a sentence on the coding."""

from collections.abc import Callable, Mapping, Sequence

from sottovoce.aggregator.i18n.translator import words_for
from sottovoce.shared.mechanisms.innocuous_rr import ONE, SAME
from sottovoce.shared.spec import Question

MOST_LABELS = 1001
"""Questions with more reported values get no value labels, only a sentence; a scale of 0 to 1,000 still gets them."""

_OWN = {"yes": "answer_yes", "no": "answer_no", "absent": "joint_absent"}
"""Keys of the labels of options that are the program's and not the survey's, in each of its languages."""


def question_label(question: Question, language: str) -> str:
    """Return the text of the question in the given language, else in any that it has."""
    return question.label.get(language) or next(iter(question.label.values()), question.name)


def option_labels(question: Question, language: str) -> list[str]:
    """Return the labels of the options, or of a vector's coordinates, in order; empty for a number."""
    named = {choice.name: choice.label for choice in question.choices}
    labels = [_text(named.get(option, {}), language) or option.capitalize() for option in question.options]
    words = words_for(language)
    return [
        words.translate(_OWN[option]) if option in _OWN and option not in named else label
        for option, label in zip(question.options, labels, strict=True)
    ]


def value_labels(question: Question, language: str) -> dict[int, str]:
    """Return a label for each reported value; empty if there are too many, or if a value has no single meaning."""
    kind = "public" if question.mechanism is None else question.mechanism.report_kind
    if question.by_fact:
        return dict(enumerate(_BY_FACT[key] for key in question.by_fact.answers))
    made = _VALUES.get(kind)
    return made(question, language) if made and question.largest < MOST_LABELS else {}


def coding(question: Question) -> str:
    """Describe the coding of reported values in a sentence."""
    if question.mechanism is None:
        return "Not randomized: sent as it is."
    how = _CODINGS[question.mechanism.report_kind]
    if question.by_fact:
        no, yes = (_BY_FACT[key] for key in question.by_fact.answers)
        how = f"0 = {no}, 1 = {yes}."
        how = f"The person's own innocuous fact hides it. {how}"
    return f"A randomized report and not the answer. {how}"


def scale_of(question: Question) -> str:
    """Return interval, ordinal or nominal, the scale of a question's answers."""
    if question.domain.grid is not None:
        return "interval"
    return "ordinal" if question.type == "rating" else "nominal"


def _text(texts: Mapping[str, str], language: str) -> str:
    return texts.get(language) or next(iter(texts.values()), "")


def _options(question: Question, language: str) -> dict[int, str]:
    labels = option_labels(question, language)
    # As on receipts: a randomized "yes" must not read as an admission. channels.csv says which report supports yes.
    return dict(enumerate(["Report B", "Report A", *labels[2:]] if question.neutral else labels))


def _end_names(question: Question) -> tuple[str, str]:
    grid = question.domain.grid
    return (f"low end ({grid.text(0)})", f"high end ({grid.text(grid.steps)})") if grid else ("low end", "high end")


def _pairs(labels: Sequence[str], ends: tuple[str, str]) -> dict[int, str]:
    return {2 * index + end: f"{label}: {ends[end]}" for index, label in enumerate(labels) for end in (0, 1)}


_VALUES: dict[str, Callable[[Question, str], dict[int, str]]] = {
    # A number in its own unit needs no label.
    "public": lambda question, language: {} if question.domain.grid else _options(question, language),
    "yes_no": _options,
    "waves": _options,
    "option": _options,
    "drawn_option": lambda question, language: _pairs(option_labels(question, language), ("not chosen", "chosen")),
    "end": lambda question, _: dict(enumerate(_end_names(question))),
    "drawn_end": lambda question, language: _pairs(option_labels(question, language), _end_names(question)),
}

_BY_FACT = {SAME: "both or neither statement is true", ONE: "exactly one statement is true", "no": "no", "yes": "yes"}

_CODINGS = {
    "yes_no": "0 and 1 are what was sent, after the coin.",
    "waves": "0 and 1 are what was sent in this wave; the device remembers a part of the draw over the waves.",
    "option": "The number of one option, from 0.",
    "set": "A set of options as a bit mask: option j (from 0) is in it if bit j is set.",
    "bits": "Each option by itself as a bit mask: bit j (from 0) is what was sent of option j.",
    "drawn_option": "2 j + bit: the device drew option j (from 0) and sent one bit about it.",
    "own_mark": "The number y of a column of a Hadamard matrix: it speaks for option j (from 0) if y AND (j + 1) "
    "has an even number of set bits.",
    "end": "0 for the low end of the range, 1 for the high end.",
    "drawn_end": "2 c + end: the device drew coordinate c (from 0) and sent one of its ends.",
    "mark": "The number of a mark; scores.csv says what number each stands for.",
    "range": "The number of a stretch of the range; scores.csv says what number each stands for.",
    "number": "A number in the question's own unit, after noise; scores.csv has an unbiased score for each.",
}
"""Coding by kind of report, see ``mechanisms.reports.REPORT_KINDS``."""
