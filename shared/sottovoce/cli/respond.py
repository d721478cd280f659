"""``respond``: answer a survey in the terminal, or take the report back."""

import json
import time
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any, BinaryIO

import click
from sottovoce.client.delivery import drawn_for, take_back
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.link import Link, parse_link
from sottovoce.client.respondent import DEFAULT_ALLOWANCE, Allowance, Respondent, encode
from sottovoce.client.review import example
from sottovoce.client.terminal.interview import Interview
from sottovoce.client.transport import Transport
from sottovoce.client.value_words import reported_in_words
from sottovoce.client.words import odds_in_words, say, text_of
from sottovoce.shared import canonical
from sottovoce.shared.errors import AnswerError, BudgetExhausted, TransportError
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.report import parse_report
from sottovoce.shared.spec import Survey

Answers = dict[str, object]


@click.command()
@click.argument("url", metavar="LINK")
@click.option("--answers", type=click.File("rb"), help="Read the answers from this JSON file; - is standard input.")
@click.option("--yes", is_flag=True, help="Send, or withdraw, without asking once more.")
@click.option("--json", "as_json", is_flag=True, help="Print the receipt as JSON.")
@click.option(
    "--allow-question",
    type=click.FloatRange(min=0),
    default=DEFAULT_ALLOWANCE.question,
    show_default=True,
    help="The most epsilon that you allow for one question.",
)
@click.option(
    "--allow-total",
    type=click.FloatRange(min=0),
    default=DEFAULT_ALLOWANCE.total,
    show_default=True,
    help="The most epsilon that you allow for the whole report.",
)
@click.option("--withdraw", is_flag=True, help="Take your report of this survey back.")
def respond(url: str, answers: BinaryIO | None, yes: bool, as_json: bool, withdraw: bool, **allow: float) -> None:
    """
    Answer the survey behind LINK, or take the report back.

    Your answers are randomized on this device; only the randomized report is sent, and it is drawn once. What the
    program asks and says is on standard error; standard output gets the bytes that were sent.

    A file of answers has one entry for each question, such as {"cheated": "yes", "which": ["a", "b"], "age": 30}. It
    is only read: delete it afterwards.
    """
    if withdraw:
        _withdraw(parse_link(url), FileLedger(), yes, as_json)
        return
    me = Respondent.connect(url, FileLedger(), reach=patient, allowance=Allowance(*_allowed(allow)))
    if not parse_link(url).digest:
        _tell("This link does not pin the survey: others may have been shown another one.")
    if me.drawn:
        _earlier(me, as_json)
        return
    introduce(me, *_allowed(allow))
    interview = Interview(me.survey, me.asked)
    if answers is None:
        interview.run()
    else:
        interview.answers = _read(answers, me)
    _review(me, interview, yes, again=answers is None)
    given = interview.answers
    receipt = _kept_if_not_sent(me, lambda: me.answer(given))
    show_receipt(me.survey, receipt, as_json)
    _parting(answers)


def patient(origin: str) -> Transport:
    """A transport that says so when it waits."""

    def sleep(seconds: float) -> None:
        _tell(f"The aggregator did not answer, or is busy; trying again in {ceil(seconds)} s.")
        time.sleep(seconds)

    return Transport(origin, sleep=sleep)


def introduce(me: Respondent, question: float, total: float) -> None:
    """The title, the texts, how the answers are protected, the odds of every question, and what it all costs."""
    survey, epsilon = me.survey, me.survey.epsilon
    click.secho(text_of(survey, survey.title), bold=True, err=True)
    for key in ("description", "consent"):
        if key in survey.document:
            _tell(text_of(survey, survey.document[key]))
    _heading(say("explain_title"))
    _tell(say("explain_own_coin" if survey.own_coin else "explain_how"))
    _tell(say("explain_epsilon", epsilon=show_epsilon(epsilon), limit=f"{total:g}"))
    if len(survey.waves) > 1:
        _tell(say("explain_waves", waves=str(len(survey.waves)), epsilon=show_epsilon(survey.epsilon_of_wave)))
    _tell(f"The survey costs epsilon {show_epsilon(epsilon)} in total.")
    _tell(f"You allow {question:g} for one question and {total:g} in total.")
    _tell(_account(me))
    _heading(say("limits_title"))
    _tell(say("limits_presence"))
    _tell("The dice are rolled once, and this device keeps the result. Another device, or an erased ledger, would mean")
    _tell("a second roll, and two reports give away more than one.")
    _heading(say("questions_title"))
    if survey.ask is not None:
        _tell(say("explain_ask", private=str(len(survey.private)), asked=str(survey.ask)))
    for number, asked in enumerate(me.asked, 1):
        _tell(f"  {number}. {text_of(survey, asked.label)}\n     {odds_in_words(asked)}")
    _tell(f"\nCtrl-C stops at any moment before sending, and leaves nothing behind{_but_the_set(survey)}.")


def _account(me: Respondent) -> str:
    try:
        before = me.spent
    except BudgetExhausted:
        return "What earlier reports of this device cost cannot be told: the ledger has a damaged file."
    after = before + me.cost
    return (
        f"Earlier reports of this device to this aggregator cost epsilon {show_epsilon(before)}; "
        f"with this one it is {show_epsilon(after)}."
    )


def _read(file: BinaryIO, me: Respondent) -> Answers:
    """
    The answers in a file, checked whole before anything is drawn.

    Raises:
        AnswerError: it is not JSON, or an answer is missing or does not fit; nothing of the file is repeated.
    """
    try:
        answers = canonical.load(file.read())
    except ValueError as error:
        raise AnswerError(f"the file of answers {error}") from None
    encode(me.survey, answers, me.places)
    return answers


def _review(me: Respondent, interview: Interview, yes: bool, again: bool) -> None:
    """An example, and the last word: send, answer a question again, or stop."""
    own_coin = me.survey.own_coin
    if not own_coin:
        _heading(say("example_title"))
        _tell(say("example_note"))
        for number, (answered, sent) in enumerate(example(me.survey, Draws(), me.places), 1):
            _tell(f"  {number}. {say('example_answer')}: {answered}. {say('example_sent')}: {sent}.")
    _tell(f"\n{say('review_own_coin' if own_coin else 'review_note')}")
    if yes:
        return
    most = len(me.asked) if again else 0
    choices = f"y, n, or 1 to {most} to answer that question again" if again else "y or n"
    while True:
        choice = click.prompt(f"Send? ({choices})", value_proc=lambda text: _choice(text, most), err=True)
        if choice == 0:
            _tell(f"Nothing was drawn, sent or stored{_but_the_set(me.survey)}.")
            raise click.Abort
        if choice < 0:
            return
        interview.again(choice)


def _but_the_set(survey: Survey) -> str:
    return "" if survey.ask is None else " but which questions are yours"


def _choice(text: str, most: int) -> int:
    """-1 to send, 0 to stop, else a question's number."""
    word = text.strip().lower()
    known = {"y": -1, "yes": -1, "n": 0, "no": 0} | {str(number): number for number in range(1, most + 1)}
    if word not in known:
        raise click.BadParameter("answer y or n" if not most else f"answer y, n, or a number from 1 to {most}")
    return known[word]


def _earlier(me: Respondent, as_json: bool) -> None:
    """A report was drawn before: show its receipt, or send the same bytes again."""
    _tell("You have answered this survey on this device; no second report is drawn.")
    receipt = me.receipt
    if receipt is None:
        receipt = _kept_if_not_sent(me, me.send)
        _tell("The report that was drawn then has now been sent.")
    show_receipt(me.survey, receipt, as_json)


def _kept_if_not_sent(me: Respondent, send: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return send()
    except (TransportError, KeyboardInterrupt) as error:
        if me.drawn:
            may_pass = isinstance(error, KeyboardInterrupt) or error.status is None or error.status >= 500
            later = "`sottovoce ledger send`, or this command, sends the same bytes later. " if may_pass else ""
            _tell(f"Your report is kept on this device. {later}It is never drawn again.")
        raise


def show_receipt(survey: Survey, receipt: dict[str, Any], as_json: bool) -> None:
    """What was sent, in words and to the byte."""
    _heading(say("receipt_title"))
    _tell(say("receipt_own_coin" if survey.own_coin else "receipt_note"))
    values = parse_report(receipt["body"].encode()).values
    for question, value in zip(survey.questions, values, strict=True):
        _tell(f"  {text_of(survey, question.label)} {reported_in_words(survey, question, value)}")
    _tell(say("receipt_epsilon", epsilon=show_epsilon(survey.epsilon)))
    _tell(f"SHA-256 {receipt['sha256']}\nreport  {receipt['report_id']}\nsurvey  {receipt['digest']}")
    click.echo(json.dumps(receipt) if as_json else receipt["body"])


def _parting(answers: BinaryIO | None) -> None:
    if answers is None:
        _tell("\nWhat you typed may still be seen in this terminal; close it if others use it.")
    elif answers.name not in {"-", "<stdin>"}:
        _tell(f"\nThe file {Path(answers.name).name} still holds your true answers: delete it.")


def _withdraw(link: Link, ledger: FileLedger, yes: bool, as_json: bool) -> None:
    """Take back what this device sent for the survey that a link names; needs no survey, so it may have changed."""
    found = drawn_for(ledger, link)
    if not found:
        raise BudgetExhausted("this device has drawn no report for this survey; there is nothing to withdraw")
    if not yes:
        _tell("The aggregator takes your report out of its counts. It cannot be sent again, and no other is drawn.")
        click.confirm("Withdraw it?", abort=True, err=True)
    for key, entry in found:
        about = {"survey": key.survey, "wave": key.wave}
        if entry.ended != "withdrawn":
            take_back(ledger, key, entry, patient(link.origin))
            about["report_id"] = parse_report(entry.body.encode()).report_id
        _tell(f"Withdrawn: {key.survey}, wave {key.wave}.")
        if as_json:
            click.echo(json.dumps({**about, "state": "withdrawn"}))


def _allowed(allow: dict[str, float]) -> tuple[float, float]:
    return allow["allow_question"], allow["allow_total"]


def _heading(text: str) -> None:
    click.secho(f"\n{text}", bold=True, err=True)


def _tell(text: str) -> None:
    click.echo(text, err=True)
