"""``respond``: answer a survey in the terminal."""

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.words import odds_in_words
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question, Survey


@click.command()
@click.argument("url")
def respond(url: str) -> None:
    """Answer the survey behind the link URL."""
    me = Respondent.connect(url)
    if "#" not in url:
        click.echo("This link does not pin the survey: others may have been shown another one.", err=True)
    if me.drawn:
        click.echo("You have answered this survey on this device. The same report is sent again.", err=True)
        show_receipt(me.send())
        return
    introduce(me.survey)
    answers = {question.name: ask(me.survey, question) for question in me.survey.questions}
    click.confirm("Randomize these answers now and send the randomized report?", abort=True, err=True)
    show_receipt(me.answer(answers))


def introduce(survey: Survey) -> None:
    """The title, the texts and the total cost."""
    click.secho(survey.text(survey.title), bold=True, err=True)
    for key in ("description", "consent"):
        if key in survey.document:
            click.echo(survey.text(survey.document[key]), err=True)
    click.echo(
        f"\nYour true answers stay on this device. What is sent costs epsilon {show_epsilon(survey.epsilon)} in total.",
        err=True,
    )


def ask(survey: Survey, question: Question) -> str:
    """One question; returns the option's name."""
    click.echo("", err=True)
    click.secho(survey.text(question.label), bold=True, err=True)
    if question.hint:
        click.echo(survey.text(question.hint), err=True)
    click.echo(odds_in_words(question), err=True)
    labels = [survey.text(choice.label) for choice in question.choices] or list(question.options)
    for number, label in enumerate(labels, 1):
        click.echo(f"  {number}. {label}", err=True)
    number = click.prompt("Your answer", type=click.IntRange(1, len(labels)), err=True)
    return question.options[number - 1]


def show_receipt(receipt: dict[str, object]) -> None:
    """What was sent, to the byte."""
    click.echo("\nSent, and acknowledged. These are the exact bytes:", err=True)
    click.echo(str(receipt["body"]).rstrip())
    click.echo(f"SHA-256 {receipt['sha256']}\nreport  {receipt['report_id']}\nsurvey  {receipt['digest']}", err=True)
