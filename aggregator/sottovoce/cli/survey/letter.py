"""``survey letter`` and ``survey paper``: the texts that go with a survey, and a questionnaire to print.

People hide their answers on paper by themselves; a table to type counts into comes with the questionnaire.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from sottovoce.aggregator.authoring import invitation_texts
from sottovoce.aggregator.export.read_archive import COUNTS, HEADER
from sottovoce.aggregator.i18n.translator import direction
from sottovoce.aggregator.invitations.paper import PaperItem, questionnaire
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli.command import FILE, PATH, check_free, command, write_text, writing
from sottovoce.client.words import (
    by_hand_in_words,
    choose_language,
    option_in_words,
    second_statement_in_words,
    text_of,
)
from sottovoce.shared.by_hand.protection import drawn_by_device
from sottovoce.shared.errors import SpecError
from sottovoce.shared.languages import LANGUAGES, languages_of
from sottovoce.shared.spec import Item, Question, Survey


@command(example="sottovoce survey paper survey.yaml --out sheets")
@click.argument("file", type=FILE)
@click.option("--out", type=PATH, required=True, help="New folder.")
@click.option("--language", type=click.Choice([*LANGUAGES]), help="[default: the survey's]")
def paper(file: Path, out: Path, language: str | None) -> None:
    """Write questionnaire.html to print, counts.csv to type the numbers of sheets into, and a copy of the survey.

    No program draws on paper: private questions must be hidden by a fact (procedure) or by coins (own_coin). Each arm
    has a page of its own, such as questionnaire-direct.html: give each person one of them by chance.
    """
    survey = read_survey_file(file)
    if drawn := drawn_by_device(survey):
        raise SpecError(f"/questions: the device would randomize '{drawn[0].name}'; on paper use procedure or own_coin")
    choose_language(environment={"LC_ALL": language or survey.default_language})
    intro = [text_of(survey, survey.document[key]) for key in ("description", "consent") if key in survey.document]
    tag = language or survey.default_language
    pages = {each.name: f"questionnaire-{each.name}.html" for each in survey.arms} or {"": "questionnaire.html"}
    with writing(out):
        out.mkdir(parents=True)
        for arm, page_name in pages.items():
            asked = (item for item in survey.items if item.is_in(arm))
            items = [made for item in asked for made in _item(survey, item)]
            page = questionnaire(text_of(survey, survey.title), intro, items, tag, direction(tag))
            (out / page_name).write_text(page, encoding="utf-8")
        (out / "survey.json").write_bytes(survey.canonical)
        with (out / COUNTS).open("x", encoding="utf-8", newline="") as table:
            csv.writer(table).writerows([HEADER, *_rows(survey)])
    named = " and ".join(str(out / each) for each in pages.values())
    click.echo(f"Print {named}. Type the numbers of sheets into {out / COUNTS}. Then run", err=True)
    click.echo(f"  sottovoce results estimate {out}", err=True)


def _item(survey: Survey, item: Item) -> Iterator[PaperItem]:
    if not item.questions:
        yield PaperItem(text_of(survey, item.label), [], [])
    for asked in item.questions:
        lines = [text_of(survey, asked.hint)] if asked.hint else []
        if asked.by_fact:
            # The last line is about the device.
            lines += second_statement_in_words(survey, asked.by_fact)[:-1]
        elif asked.mechanism is not None:
            lines += by_hand_in_words(asked)[:-1]
        yield PaperItem(text_of(survey, asked.label), lines, _options(survey, asked))


def _options(survey: Survey, asked: Question) -> list[str]:
    if not asked.kind.takes_category:
        raise SpecError(f"/questions: '{asked.name}' has no list of answers to tick; leave it out on paper")
    return [option_in_words(survey, asked, index) for index in range(len(asked.options))]


def _rows(survey: Survey) -> Iterator[tuple[str, str, int, str]]:
    for asked in survey.questions:
        for value, option in enumerate(_options(survey, asked)):
            yield asked.name, option, value, ""


@command(example="sottovoce survey letter exam.yaml --link 'https://example.org/s/exam#d=...'")
@click.argument("survey", type=PATH)
@click.option(
    "--kind", type=click.Choice(["invitation", "reminder", "ethics"]), default="invitation", help="Text to write."
)
@click.option("--language", help="One of the survey's languages. [default: its own]")
@click.option("--link", help="The respondents' link, for invitation and reminder.")
@click.option(
    "--links", type=click.File(encoding="utf-8"), help="Instead: a CSV of personal links; makes a mail merge."
)
@click.option("--out", type=FILE, help="File to write. [default: standard output]")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def letter(
    survey: Path, kind: str, language: str | None, link: str | None, links: Iterable[str] | None, out: Path | None,
    force: bool,
) -> None:  # fmt: skip
    """Write the invitation, the reminder to everybody or the ethics text of the survey file SURVEY."""
    check_free(out, [".csv"] if links else [".txt", ".md"], force)
    asked = read_survey_file(survey)
    spoken = languages_of(asked)
    if language is not None and language not in spoken:
        raise SpecError(f"--language must be one of: {', '.join(spoken)}")
    tag = language or asked.default_language
    text = invitation_texts.mail_merge(asked, _links_in(links), tag) if links else _text(asked, kind, link, tag)
    write_text(text, out)


def _text(survey: Survey, kind: str, link: str | None, language: str) -> str:
    if kind == "ethics":
        return invitation_texts.ethics(survey, language)
    if link is None:
        raise SpecError("--link is needed: the address under which people answer")
    return (invitation_texts.letter if kind == "invitation" else invitation_texts.reminder)(survey, link, language)


def _links_in(lines: Iterable[str]) -> list[str]:
    """Return the links of a CSV as `sottovoce link create` writes it, or of one a line."""
    links = [cell for row in csv.reader(lines) for cell in row if "/s/" in cell]
    if not links:
        raise SpecError(
            "the file that --links names holds no link to a survey. 'sottovoce link create --out' writes one"
        )
    return links
