"""Ask one question in the terminal until the answer fits, on standard error; what was typed is never repeated."""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

import click
from sottovoce.client.terminal.screen import is_no, is_yes
from sottovoce.client.words import (
    by_hand_in_words,
    odds_in_words,
    option_in_words,
    second_statement_in_words,
    text_of,
    translate,
)
from sottovoce.shared.errors import AnswerError
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR
from sottovoce.shared.spec import Question, Survey

_GROUPED = re.compile(r"-?[1-9]\d{0,2},\d{3}")
_PLAIN = re.compile(r"(-?)(\d*)(?:\.(\d*))?")
REFUSAL = "-"
"""Typed for "prefer not to say"; no number and no option's number."""


class _Refused(Exception):
    """The person prefers not to say."""


def ask(survey: Survey, question: Question, number: int, total: int) -> object:
    """Ask one question; return the answer in the form that its type has, None for "prefer not to say".

    ``number``, from 1, is its place among the ``total`` questions that this person is asked.
    """
    click.echo("", err=True)
    position = translate("question_number", number=str(number), total=str(total))
    click.secho(f"{position}. {text_of(survey, question.label)}", bold=True, err=True)
    if question.hint:
        click.echo(text_of(survey, question.hint), err=True)
    click.echo(odds_in_words(question), err=True)
    for line in by_hand_in_words(question) if survey.own_coin else []:
        click.echo(line, err=True)
    for line in second_statement_in_words(survey, made) if isinstance(made := question.mechanism, InnocuousRR) else []:
        click.echo(line, err=True)
    if question.absent is not None:
        click.echo(f"  {REFUSAL}  {translate('prefer_not')}", err=True)
    try:
        return _ASK[question.kind.truth](survey, question)
    except _Refused:
        return None


def _ask_option(survey: Survey, question: Question) -> str:
    _list(survey, question)

    def parse_choice(text: str) -> str:
        named = _named_option(survey, question, text)
        return question.options[_position(text, 1, _choosable_count(question)) if named is None else named]

    return str(_prompt(question, translate("your_answer"), parse_choice))


def _ask_options(survey: Survey, question: Question) -> list[str]:
    """Ask for numbers separated by spaces or commas; 0 for none of the options."""
    _list(survey, question)

    def parse_choices(text: str) -> list[str]:
        positions = [_position(word, 0, len(question.options)) for word in text.replace(",", " ").split()]
        answer = [question.options[position] for position in positions if position >= 0]
        try:
            question.encode(answer)
        except AnswerError:
            raise click.BadParameter(translate("several", most=most)) from None
        return answer

    most = str(question.domain.max_choices)
    return list(_prompt(question, translate("your_answers", most=most), parse_choices))


def _ask_number(question: Question, label: str) -> str:
    grid = question.domain.grid
    assert grid is not None  # noqa: S101 - only numbers are asked for so
    ends = {"min": grid.text(0), "max": grid.text(grid.steps)}
    range_ = translate("range", first=ends["min"], last=ends["max"])

    def parse_number(text: str) -> str:
        typed = typed_number(text)
        try:
            counted = grid.text(grid.nearest(typed))
        except ValueError:
            raise click.BadParameter(translate(f"{grid.noun.split()[0]}_fault", **ends)) from None
        if grid.read(counted) != grid.read(typed):
            click.echo(translate("counted_as", number=counted), err=True)
        return counted

    return str(_prompt(question, f"{label} ({range_})", parse_number))


def typed_number(text: str) -> str:
    """Convert a typed number, in the digits of any script, to the form that ``parse_decimal`` reads.

    A comma stands before the tenths unless thousands may be meant: 1,000 is never 1. Other text is left as it is.
    """
    latin = "".join(str(unicodedata.decimal(each, each)) for each in text.strip()).replace("\u2212", "-").lstrip("+")
    if _GROUPED.fullmatch(latin):
        return latin
    match = _PLAIN.fullmatch(latin.replace("\u066b", ".").replace(",", ".", 1))
    if match is None or not (match[2] or match[3]):
        return latin
    sign, whole, decimals = match.groups(default="")
    return f"{sign}{whole.lstrip('0') or '0'}{f'.{decimals}' if decimals else ''}"


def _ask_plain_number(_survey: Survey, question: Question) -> str:
    return _ask_number(question, translate("your_answer"))


def _ask_numbers(survey: Survey, question: Question) -> dict[str, str]:
    labels = [option_in_words(survey, question, index) for index in range(len(question.options))]
    return {name: _ask_number(question, label) for name, label in zip(question.options, labels, strict=True)}


_ASK: dict[str, Callable[[Survey, Question], object]] = {
    "yes_no": _ask_option,
    "option": _ask_option,
    "options": _ask_options,
    "number": _ask_plain_number,
    "numbers": _ask_numbers,
}
"""How to ask, by the kind of true values."""


def _list(survey: Survey, question: Question) -> None:
    for index in range(_choosable_count(question)):
        click.echo(f"  {index + 1}. {option_in_words(survey, question, index)}", err=True)


def _choosable_count(question: Question) -> int:
    """Return the number of options that can be chosen: the category for no answer is refused into, not chosen."""
    return len(question.options) - question.domain.absent


def _named_option(survey: Survey, question: Question, text: str) -> int | None:
    """Return the index of the option whose text (yes, no: also first letter) was typed; None if it is none of them."""
    word = text.strip().casefold()
    # A yes to one of two statements is what the crosswise model never asks for.
    is_plain = not isinstance(question.mechanism, InnocuousRR) or not question.mechanism.is_crosswise
    if is_plain and question.kind.truth == "yes_no" and (is_yes(text) or is_no(text)):
        return question.options.index("yes" if is_yes(text) else "no")
    texts = [option_in_words(survey, question, index).casefold() for index in range(_choosable_count(question))]
    # A number is an option's place in the list, also where an option is called by another one.
    return texts.index(word) if word in texts and not word.isdecimal() else None


def _position(text: str, low: int, high: int) -> int:
    """Return the index that a typed number from ``low`` to ``high`` stands for; -1 for 0."""
    word = text.strip()
    # ASCII only: ``isdigit`` also accepts superscripts, for which ``int`` fails.
    if not (word.isascii() and word.isdigit() and len(word) <= 9 and low <= int(word) <= high):
        raise click.BadParameter(translate("number_fault", min=str(low), max=str(high)))
    return int(word) - 1


def _prompt(question: Question, label: str, read: Callable[[str], Any]) -> Any:  # noqa: ANN401 - whatever ``read`` gives
    def parse_answer(text: str) -> Any:  # noqa: ANN401 - the same
        if question.absent is not None and text.strip() == REFUSAL:
            raise _Refused
        return read(text)

    return click.prompt(label, value_proc=parse_answer, err=True)
