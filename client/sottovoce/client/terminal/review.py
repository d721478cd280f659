"""The step before sending: an example of what could be sent, and the last word."""

from collections.abc import Collection

import click
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import Respondent, randomize
from sottovoce.client.terminal.explanation import stored_set_note
from sottovoce.client.terminal.interview import Interview
from sottovoce.client.terminal.screen import heading, print_line
from sottovoce.client.value_words import answered_in_words, reported_in_words
from sottovoce.client.words import translate
from sottovoce.shared.answers import Value
from sottovoce.shared.rational import MAX_DENOMINATOR
from sottovoce.shared.spec import Question, Survey


def example(survey: Survey, draws: Draws, asked: Collection[int] | None = None) -> list[tuple[str, str]]:
    """
    For each question with an index in ``asked``, None for all: an invented answer and what could be sent for it.

    It is given no answers, so it cannot show one; and the report really drawn is not drawn yet. People who see their
    own "no" become "yes" go back and try again.

    Args:
        survey: the survey.
        draws: the source of randomness, also of the invented answers.
        asked: indices of questions.
    """
    # From invented answers: an example from the true ones would be a second, unaccounted draw.
    invented = tuple(
        _invent(question, draws) if asked is None or index in asked else None
        for index, question in enumerate(survey.questions)
    )
    values = randomize(survey, invented, draws).values
    rows = zip(survey.questions, invented, values, strict=True)
    return [
        (answered_in_words(survey, question, answer), reported_in_words(survey, question, value))
        for question, answer, value in rows
        if answer is not None
    ]


def _invent(question: Question, draws: Draws) -> Value:
    bound = min(question.domain.size, MAX_DENOMINATOR)
    if question.kind.truth == "numbers":
        return tuple(draws.below(bound) for _ in question.options)
    if question.kind.truth != "options":
        return draws.below(bound)
    # Two draws, often of different options, where as many may be chosen.
    drawn = [draws.below(bound), draws.below(bound)][: question.domain.max_choices]
    return sum(1 << option for option in set(drawn))


SEND, STOP = -1, 0
"""What is chosen beside a question's number, which begins at 1."""


def show_example(me: Respondent) -> None:
    """An invented person's answers and what could be sent; none where people toss their own coins."""
    own_coin = me.survey.own_coin
    if not own_coin:
        heading(translate("example_title"))
        print_line(translate("example_note"))
        for number, (answered, sent) in enumerate(example(me.survey, Draws(), me.places), 1):
            print_line(f"  {number}. {translate('example_answer')}: {answered}. {translate('example_sent')}: {sent}.")
    print_line(f"\n{translate('review_own_coin' if own_coin else 'review_note')}")


def confirm(me: Respondent, interview: Interview, may_change: bool) -> None:
    """
    Ask until the answers are to be sent.

    Args:
        me: who is asked.
        interview: what was answered; a question is asked again in it.
        may_change: a question may be answered again, which answers from a file may not.

    Raises:
        click.Abort: nothing is to be sent.
    """
    most = len(me.asked) if may_change else 0
    choices = f"y, n, or 1 to {most} to answer that question again" if may_change else "y or n"
    while True:
        choice = click.prompt(f"Send? ({choices})", value_proc=lambda text: _choice(text, most), err=True)
        if choice == STOP:
            print_line(f"Nothing was drawn, sent or stored{stored_set_note(me.survey)}.")
            raise click.Abort
        if choice == SEND:
            return
        interview.again(choice)


def _choice(text: str, most: int) -> int:
    """``SEND``, ``STOP`` or a question's number."""
    word = text.strip().lower()
    known = {"y": SEND, "yes": SEND, "n": STOP, "no": STOP} | {str(number): number for number in range(1, most + 1)}
    if word not in known:
        raise click.BadParameter("answer y or n" if not most else f"answer y, n, or a number from 1 to {most}")
    return known[word]
