"""Send after the draw, and show the receipt: the sent report in words and byte by byte."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.begin import moment_in_words
from sottovoce.client.terminal.screen import heading, print_line
from sottovoce.client.value_words import reported_in_words
from sottovoce.client.words import choose_language, in_sequence, text_of, translate
from sottovoce.shared.accounting import NEARLY_SURE
from sottovoce.shared.arms.arms import is_arm
from sottovoce.shared.by_hand.protection import drawn_by_device, hidden_by_facts
from sottovoce.shared.completion import ending
from sottovoce.shared.errors import NotYet, TransportError
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.report import parse_report
from sottovoce.shared.spec import Question, Survey

Values = Sequence[int | None]
"""Values of a report, one for each question of the survey; None for one that was not asked."""


def send_or_keep(me: Respondent, send: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Send, and say what becomes of a report that was drawn and did not arrive.

    ``send`` draws it if need be, sends it, and returns the receipt. Raises TransportError if the report was not
    acknowledged, or never drawn.
    """
    try:
        return send()
    except NotYet:
        raise
    except (TransportError, KeyboardInterrupt) as error:
        if me.drawn:
            print_not_sent(error)
        raise


def print_not_sent(error: BaseException) -> None:
    """Say that a report that did not arrive is kept, and how to send it."""
    is_final = isinstance(error, TransportError) and error.is_final
    print_line(translate("kept_not_again" if is_final else "kept_send_later"))


def show_receipt(survey: Survey | None, receipt: dict[str, Any], as_json: bool, exactly: bool = False) -> None:
    """Show the receipt. It depends on the report's bytes and the survey only, so that it reveals nothing of the truth.

    Args:
        survey: that the report was drawn for; None if it cannot be had, and then nothing is said in words.
        receipt: the aggregator's, and the ``body`` that was sent.
        as_json: print all of the receipt instead of the body alone.
        exactly: every value in words, too.
    """
    choose_language(survey)
    report = parse_report(receipt["body"].encode())
    # The arm is no answer.
    is_chance = survey is not None and not (
        hidden_by_facts(survey) or any(not is_arm(survey, asked) for asked, _ in _as_given(survey, report.values))
    )
    heading(translate("receipt_title" if is_chance else "receipt_title_open"))
    if survey is None:
        print_line(translate("only_bytes"))
    else:
        _print_in_words(survey, report.values, exactly)
        closes = survey.waves[report.wave].closes
        print_line(translate("receipt_until", date=moment_in_words(closes)) if closes else translate("status_withdraw"))
    print_line(f"SHA-256 {receipt['sha256']}\nreport  {receipt['report_id']}\nsurvey  {receipt['digest']}")
    click.echo(json.dumps(receipt) if as_json else receipt["body"])


def _print_in_words(survey: Survey, values: Values, exactly: bool) -> None:
    _print_count(survey, values)
    if public := _as_given(survey, values):
        print_line(translate("receipt_public"))
        _print_questions(survey, public)
    if exactly:
        print_line(f"{translate('receipt_exact')}:")
        if survey.own_coin:
            print_line(translate("receipt_own_coin"))
        elif any(values[survey.questions.index(question)] is not None for question in drawn_by_device(survey)):
            print_line(translate("receipt_note"))
        _print_questions(survey, list(zip(survey.questions, values, strict=True)))
    else:
        print_line(f"{translate('receipt_exact')}: sottovoce respond LINK --exactly")
    after = ending(survey, values)
    if "text" in after:
        print_line(text_of(survey, after["text"]))
    for link in [after["link"]] if "link" in after else after.get("links", {}).values():
        print_line(link)
    epsilon = _epsilon(survey, values)
    print_line(translate("receipt_epsilon", epsilon=show_epsilon(epsilon)) if epsilon else translate("all_public"))


def _as_given(survey: Survey, values: Values) -> list[tuple[Question, int | None]]:
    """Return what was sent without chance, the arm included."""
    pairs = zip(survey.questions, values, strict=True)
    return [(question, value) for question, value in pairs if question.mechanism is None and value is not None]


def _epsilon(survey: Survey, values: Values) -> float:
    return survey.epsilon_in_arm(values[-1] or 0 if survey.arms else 0)


def _print_count(survey: Survey, values: Values) -> None:
    """Print one sentence about all answers that chance had a say in."""
    given = [survey.questions[index] for index in survey.private if values[index] is not None]
    facts = hidden_by_facts(survey)
    if any(question in facts for question in given):
        print_line(translate("receipt_innocuous"))
    count = sum(question not in facts for question in given)
    if count == 0:
        return
    proves = [translate("receipt_proves")] if _epsilon(survey, values) < NEARLY_SURE else []
    print_line(in_sequence(translate("receipt_count", count=str(count)), *proves))
    print_line(translate("no_lie"))
    if any(question.name in survey.conditional for question in given):
        print_line(translate("receipt_not_shown"))


def _print_questions(survey: Survey, pairs: Sequence[tuple[Question, int | None]]) -> None:
    for question, value in pairs:
        print_line(f"  {text_of(survey, question.label)} {reported_in_words(survey, question, value)}")
        # For people who did not see or answer the question; everybody gets the same note.
        if question.mechanism is None and question.absent is not None and not question.domain.absent:
            print_line(f"    {translate('public_absent')}")
