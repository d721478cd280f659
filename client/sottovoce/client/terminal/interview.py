"""Ask a survey's items in the terminal, in order: what is hidden is not asked, what is answered is not asked twice.

A question is asked on standard error until the answer fits; what was typed is never repeated.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.screen import confirm, is_no, is_yes, print_line
from sottovoce.client.words import (
    by_hand_in_words,
    odds_in_words,
    option_in_words,
    second_statement_in_words,
    text_of,
    translate,
)
from sottovoce.shared import canonical
from sottovoce.shared.answers import Value
from sottovoce.shared.arms.arms import samples
from sottovoce.shared.errors import AnswerError
from sottovoce.shared.order.orders import Arrangement, arrange
from sottovoce.shared.spec import Item, Question, Survey
from sottovoce.shared.types.base import grid_of
from sottovoce.shared.visibility import is_shown

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
    for line in second_statement_in_words(survey, question.by_fact) if question.by_fact else []:
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
    grid = grid_of(question.domain)
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


def _ask_numbers(survey: Survey, question: Question) -> dict[str, str]:
    labels = [option_in_words(survey, question, index) for index in range(len(question.options))]
    return {name: _ask_number(question, label) for name, label in zip(question.options, labels, strict=True)}


_ASK: dict[str, Callable[[Survey, Question], object]] = {
    "yes_no": _ask_option,
    "option": _ask_option,
    "options": _ask_options,
    "number": lambda _, question: _ask_number(question, translate("your_answer")),
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
    is_plain = not question.by_fact or not question.by_fact.is_crosswise
    if is_plain and not question.choices and (is_yes(text) or is_no(text)):
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


class Interview:
    """The answers of one person, as far as they are given.

    Args:
        asked: questions of the survey that are asked, by default all.
        arm: name of the person's arm; "" without arms.
        order: in which items, rows and options are shown; by default the survey's.

    Attributes:
        answers: by question name; None if the person prefers not to say.
    """

    def __init__(
        self, survey: Survey, asked: Sequence[Question] = (), arm: str = "", order: Arrangement | None = None
    ) -> None:
        self.answers: dict[str, object] = {}
        self._survey = survey
        self._arm = arm
        self._seen: set[str] = set()
        order = order or arrange(survey, [], [])
        self._items = [_with_rows(survey.items[index], order.lists.get(index)) for index in order.items]
        self._shown = dict(_with_options(survey.items[index], places) for index, places in order.lists.items())
        names = {question.name for question in asked or survey.questions}
        self._asked = tuple(each for item in self._items for each in item.questions if each.name in names)
        self._numbers = {question.name: number for number, question in enumerate(self._asked, 1)}

    def run(self) -> None:
        """Ask whatever is shown and has no answer yet."""
        given: dict[str, Value] = {}
        for item in self._items:
            if is_shown(item.visible_if, item.any_of, given) and self._is_for(item):
                self._show(item)
                given |= self._ask(item)

    def again(self, number: int) -> None:
        """Ask the question with this number again, and what its answer shows anew."""
        # Answers to follow-up questions stay, and count only while their question is shown.
        self.answers.pop(self._asked[number - 1].name, None)
        self.run()

    def _is_for(self, item: Item) -> bool:
        """Say whether an item is a note of this person's arm, or has a question that this person is asked."""
        if not item.questions:
            return item.is_in(self._arm)
        return any(question.name in self._numbers for question in item.questions)

    def _ask(self, item: Item) -> dict[str, Value]:
        given: dict[str, Value] = {}
        for question in item.questions:
            if question.name not in self._numbers:
                continue
            if question.name not in self.answers:
                shown = self._shown.get(question.name) or question
                self.answers[question.name] = ask(self._survey, shown, self._numbers[question.name], len(self._asked))
            if self.answers[question.name] is not None:
                given[question.name] = question.encode(self.answers[question.name])
        return given

    def _show(self, item: Item) -> None:
        """Show notes and the texts of a matrix, once; an item to acknowledge is repeated until it is confirmed."""
        if item.name in self._seen or not (item.rows or not item.questions):
            return
        self._seen.add(item.name)
        click.echo("", err=True)
        click.secho(text_of(self._survey, item.label), bold=bool(item.rows), err=True)
        if item.hint:
            click.echo(text_of(self._survey, item.hint), err=True)
        if item.type == "acknowledge":
            click.echo(translate("acknowledge_note"), err=True)
            while not confirm(translate("acknowledged"), default=False):
                pass


def _with_rows(item: Item, order: Sequence[int] | None) -> Item:
    """Return the item, a matrix with its rows in this order."""
    if not item.rows or order is None:
        return item
    rows, questions = tuple(item.rows[index] for index in order), tuple(item.questions[index] for index in order)
    return replace(item, rows=rows, questions=questions)


def _with_options(item: Item, order: Sequence[int]) -> tuple[str, Question | None]:
    """Return the question's name, and the question with its options in this order; a matrix keeps its options."""
    if item.rows:
        return item.name, None
    (asked,) = item.questions
    options = (*(asked.options[index] for index in order), *asked.options[len(order) :])
    choices = tuple(asked.choices[index] for index in order) if asked.choices else ()
    return asked.name, replace(asked, choices=choices, domain=replace(asked.domain, options=options))


def read_answers(file: BinaryIO, me: Respondent) -> dict[str, object]:
    """Read the answers in a file, checked whole before anything is drawn.

    Raises AnswerError if it is not JSON, or an answer is missing or does not fit; nothing of the file is repeated.
    """
    try:
        answers: dict[str, object] = canonical.load(file.read())
    except ValueError as error:
        raise AnswerError(f"the file of answers {error}") from None
    # Validate the whole file first: a failure halfway must not leave a drawn report behind.
    me.encode(answers)
    return answers


def print_visible_answers(file: BinaryIO | None) -> None:
    """Say as the last words where true answers can still be seen, if anywhere; without a file they were typed."""
    if file is None:
        print_line("\n" + translate("still_visible"))
    elif file.name not in {"-", "<stdin>"}:
        print_line("\n" + translate("delete_file", name=Path(file.name).name))


SEND, STOP = -1, 0
"""What is chosen beside a question's number, which begins at 1."""


def confirm_sending(me: Respondent, interview: Interview, may_change: bool) -> None:
    """Ask until the answers are to be sent; raise click.Abort if nothing is to be sent.

    With ``may_change`` a question may be answered again in ``interview``; answers from a file may not.
    """
    most = len(me.asked) if may_change else 0
    choices = [translate("yes_no_or"), *([translate("or_number", most=str(most))] if may_change else [])]
    label = f"{translate('send_now')} ({', '.join(choices)})"
    while True:
        choice = click.prompt(label, value_proc=lambda text: _choice(text, most, ", ".join(choices)), err=True)
        if choice == STOP:
            kept = "may_stop_arms" if me.survey.arms else "stopped_ask" if samples(me.survey) else "stopped"
            print_line(translate(kept))
            raise click.Abort
        if choice == SEND:
            return
        interview.again(choice)


def _choice(text: str, most: int, choices: str) -> int:
    """Return ``SEND``, ``STOP`` or a question's number."""
    if is_yes(text):
        return SEND
    if is_no(text):
        return STOP
    numbers = {str(number): number for number in range(1, most + 1)}
    if text.strip() not in numbers:
        raise click.BadParameter(translate("choose_one_of", choices=choices))
    return numbers[text.strip()]
