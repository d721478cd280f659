"""``respond``: answer a survey in the terminal."""

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.words import odds_in_words, say
from sottovoce.shared.errors import AnswerError
from sottovoce.shared.rational import dump_decimal, show_epsilon
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
    answers = {question.name: ask(me.survey, question) for question in me.asked}
    click.confirm("Randomize these answers now and send the randomized report?", abort=True, err=True)
    show_receipt(me.answer(answers))


def introduce(survey: Survey) -> None:
    """The title, the texts and the total cost."""
    click.secho(survey.text(survey.title), bold=True, err=True)
    for key in ("description", "consent"):
        if key in survey.document:
            click.echo(survey.text(survey.document[key]), err=True)
    total = show_epsilon(survey.epsilon)
    click.echo(f"\nYour true answers stay on this device. What is sent costs epsilon {total} in total.", err=True)
    if survey.ask is not None:
        click.echo(say("explain_ask", private=str(len(survey.private)), asked=str(survey.ask)), err=True)


def ask(survey: Survey, question: Question) -> object:
    """One question; returns the answer in the form that ``answers`` lists for its type."""
    click.echo("", err=True)
    click.secho(survey.text(question.label), bold=True, err=True)
    if question.hint:
        click.echo(survey.text(question.hint), err=True)
    click.echo(odds_in_words(question), err=True)
    labels = [survey.text(choice.label) for choice in question.choices] or list(question.options)
    if question.type == "vector":
        return {name: _number(question, label) for name, label in zip(question.options, labels, strict=True)}
    if question.domain.grid is not None:
        return _number(question, "Your answer")
    for number, label in enumerate(labels, 1):
        click.echo(f"  {number}. {label}", err=True)
    return _several(question) if question.type == "select_multiple" else _one(question)


def _one(question: Question) -> str:
    number: int = click.prompt("Your answer", type=click.IntRange(1, len(question.options)), err=True)
    return question.options[number - 1]


def _several(question: Question) -> list[str]:
    """Numbers separated by spaces or commas; 0 for none of the options."""

    def chosen(text: str) -> list[str]:
        words = text.replace(",", " ").split()
        if not all(word.isascii() and word.isdigit() and int(word) <= len(question.options) for word in words):
            raise click.BadParameter("give the options' numbers, or 0 for none")
        answer = [question.options[int(word) - 1] for word in words if int(word)]
        _check(question, answer)
        return answer

    most = question.domain.max_choices
    return list(click.prompt(f"Your answers (up to {most}, 0 for none)", value_proc=chosen, err=True))


def _number(question: Question, label: str) -> str:
    grid = question.domain.grid
    assert grid is not None  # noqa: S101 - only numbers are asked for so
    low, high, step = (dump_decimal(value) for value in (grid.low, grid.high, grid.step))

    def on_grid(text: str) -> str:
        try:
            grid.index(text.strip())
        except ValueError:
            raise click.BadParameter(f"give a number from {low} to {high}, in steps of {step}") from None
        return text.strip()

    return str(click.prompt(f"{label} ({low} to {high}, in steps of {step})", value_proc=on_grid, err=True))


def _check(question: Question, answer: object) -> None:
    try:
        question.encode(answer)
    except AnswerError as error:
        raise click.BadParameter(str(error)) from None


def show_receipt(receipt: dict[str, object]) -> None:
    """What was sent, to the byte."""
    click.echo("\nSent, and acknowledged. These are the exact bytes:", err=True)
    click.echo(str(receipt["body"]).rstrip())
    click.echo(f"SHA-256 {receipt['sha256']}\nreport  {receipt['report_id']}\nsurvey  {receipt['digest']}", err=True)
