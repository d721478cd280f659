"""``respond``: answer a survey in the terminal, or take the report back."""

import json
from typing import BinaryIO

import click
from sottovoce.cli.command import Number, command
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.link import Link, parse_link
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal import earlier as earlier_reports
from sottovoce.client.terminal.begin import announce, begin, check_open
from sottovoce.client.terminal.explanation import explain, explain_arm
from sottovoce.client.terminal.interview import Interview, confirm_sending, print_visible_answers, read_answers
from sottovoce.client.terminal.receipt import send_or_keep, show_receipt
from sottovoce.client.terminal.screen import confirm_or_abort, notifying_transport, print_line
from sottovoce.client.words import choose_language, translate
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE, Allowance


@command(example="sottovoce respond 'https://survey.example.org/s/exam#d=...'")
@click.argument("url", metavar="LINK")
@click.option("--answers", type=click.File("rb"), help="Read the answers from this JSON file; - is standard input.")
@click.option("--yes", is_flag=True, help="Send, or withdraw, without asking once more.")
@click.option("--json", "as_json", is_flag=True, help="Print the receipt as JSON.")
@click.option(
    "--allow-question",
    type=Number(min=0),
    default=DEFAULT_ALLOWANCE.question,
    help="The most epsilon that you allow for one question.",
)
@click.option(
    "--allow-total",
    type=Number(min=0),
    default=DEFAULT_ALLOWANCE.total,
    help="The most epsilon that you allow for the whole report.",
)
@click.option("--exactly", is_flag=True, help="Show every value that was sent, in words.")
@click.option("--later", is_flag=True, help="Record the report and leave; `ledger send` sends it, at its moment.")
@click.option("--withdraw", "take_back", is_flag=True, help="Take your report of this survey back.")
def respond(
    url: str, answers: BinaryIO | None, yes: bool, as_json: bool, exactly: bool, later: bool, take_back: bool,
    **allow: float,
) -> None:  # fmt: skip
    """Answer the survey behind LINK, or take the report back.

    Your answers are randomized on this device; only the randomized report is sent, and it is drawn once. What the
    program asks and says is on standard error; standard output gets the bytes that were sent.

    A file of answers has one entry for each question, such as {"cheated": "yes", "which": ["a", "b"], "age": 30}. It
    is only read: delete it afterwards.

    Everybody on a machine sees the words of its commands: for a link that is yours alone write - here, and paste it in
    when you are asked.
    """
    choose_language()
    url = click.prompt(translate("link_prompt"), hide_input=True, err=True) if url == "-" else url
    if take_back:
        _withdraw(parse_link(url), yes, as_json)
        return
    link, ledger, asks = parse_link(url), FileLedger(), not yes and answers is None
    earlier = earlier_reports.find_earlier_or_wait(ledger, link, asks)
    if earlier is None:
        return
    if earlier.receipt is not None:
        show_receipt(earlier.survey, earlier.receipt, as_json, exactly)
        return
    allowance, again = Allowance(allow["allow_question"], allow["allow_total"]), earlier.another_person
    me = Respondent.connect(url, ledger, reach=notifying_transport, allowance=allowance, another_person=again)
    announce(me, link)
    explain(me, allowance, check_open(me))
    begin(me, asks)
    explain_arm(me)
    me.record(_answers(me, answers, yes))
    if later:
        earlier_reports.print_unsent_notice(me)
    else:
        show_receipt(me.survey, send_or_keep(me, lambda: earlier_reports.send_when_due(me)), as_json, exactly)
    print_visible_answers(answers)


def _answers(me: Respondent, file: BinaryIO | None, yes: bool) -> dict[str, object]:
    interview = Interview(me.survey, me.asked, me.arm, me.order)
    if file is None:
        interview.run()
    else:
        interview.answers = read_answers(file, me)
    if not yes:
        confirm_sending(me, interview, may_change=file is None)
    return interview.answers


def _withdraw(link: Link, yes: bool, as_json: bool) -> None:
    ledger = FileLedger()
    found = earlier_reports.reports_to_withdraw(ledger, link)
    if not yes:
        print_line(translate("withdraw_note"))
        confirm_or_abort(translate("withdraw_title"), default=False)
    for withdrawn in earlier_reports.withdraw(ledger, link, found):
        if as_json:
            click.echo(json.dumps(withdrawn))
