"""Ask a survey's items in the terminal, in order: what is hidden is not asked, what is answered is not asked twice."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.prompts import ask
from sottovoce.client.terminal.screen import confirm, is_no, is_yes, print_line
from sottovoce.client.words import text_of, translate
from sottovoce.shared import canonical
from sottovoce.shared.answers import Value
from sottovoce.shared.arms.arms import samples
from sottovoce.shared.errors import AnswerError
from sottovoce.shared.order.orders import Arrangement, arrange
from sottovoce.shared.spec import Item, Question, Survey
from sottovoce.shared.visibility import is_shown


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
