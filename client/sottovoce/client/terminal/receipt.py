"""After the draw: the report is sent, or kept; and what was sent, in words and to the byte."""

import json
from collections.abc import Callable
from typing import Any

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.screen import heading, tell
from sottovoce.client.value_words import reported_in_words
from sottovoce.client.words import say, text_of
from sottovoce.shared.errors import TransportError
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.report import parse_report
from sottovoce.shared.spec import Survey


def send_or_keep(me: Respondent, send: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """
    Send, and say what becomes of a report that was drawn and did not arrive.

    Args:
        me: whose report it is.
        send: draws it if need be, sends it, and gives the receipt.

    Raises:
        TransportError: it was not acknowledged, or never drawn.
    """
    try:
        return send()
    except (TransportError, KeyboardInterrupt) as error:
        if me.drawn:
            # A refusal by status below 500 stays one, however often the same bytes are sent.
            may_pass = isinstance(error, KeyboardInterrupt) or error.status is None or error.status >= 500
            later = "`sottovoce ledger send`, or this command, sends the same bytes later. " if may_pass else ""
            tell(f"Your report is kept on this device. {later}It is never drawn again.")
        raise


def receipt_of_earlier(me: Respondent) -> dict[str, Any]:
    """The receipt of the report that was drawn before; if it did not arrive, the same bytes are sent now."""
    tell("You have answered this survey on this device; no second report is drawn.")
    receipt = me.receipt
    if receipt is None:
        receipt = send_or_keep(me, me.send)
        tell("The report that was drawn then has now been sent.")
    return receipt


def show_receipt(survey: Survey, receipt: dict[str, Any], as_json: bool) -> None:
    """
    What was sent, in words and to the byte.

    Args:
        survey: the survey.
        receipt: the aggregator's, and the ``body`` that was sent.
        as_json: print all of the receipt instead of the body alone.
    """
    heading(say("receipt_title"))
    tell(say("receipt_own_coin" if survey.own_coin else "receipt_note"))
    values = parse_report(receipt["body"].encode()).values
    for question, value in zip(survey.questions, values, strict=True):
        tell(f"  {text_of(survey, question.label)} {reported_in_words(survey, question, value)}")
    tell(say("receipt_epsilon", epsilon=show_epsilon(survey.epsilon)))
    tell(f"SHA-256 {receipt['sha256']}\nreport  {receipt['report_id']}\nsurvey  {receipt['digest']}")
    click.echo(json.dumps(receipt) if as_json else receipt["body"])
