"""Shared parts of the analysis commands: find the reports, run an analysis on them, and print its result.

Reports are in a data folder, at an aggregator, in a folder of files, or in a data file of answers that were randomized
elsewhere; or there are counts alone.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from sottovoce.aggregator.analysis import requests
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.file_analysis import decode_codes
from sottovoce.aggregator.analysis.data_file.read_table import FORMATS, read_table
from sottovoce.aggregator.analysis.published_counts import published, snapshot_of
from sottovoce.aggregator.analysis.result_view import ShownTable
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.aggregator.analysis.weights import MarginShares
from sottovoce.aggregator.clock import present
from sottovoce.aggregator.export.results_client import sources
from sottovoce.aggregator.export.results_client.http_source import AddressReports, read_key
from sottovoce.aggregator.export.results_client.open_data import (
    DataReports,
    OpenData,
    of_table,
    open_data,
    read_channels,
)
from sottovoce.aggregator.privacy_account.text import filled
from sottovoce.aggregator.storage.audit_log.events import MACHINE, RESULTS_READ
from sottovoce.cli.command import PATH, Number, options_of, waiting
from sottovoce.cli.database import data_option, open_survey
from sottovoce.cli.results.place import PlaceName, show_progress, terminal_words
from sottovoce.shared.by_link.link_question import parse_link
from sottovoce.shared.errors import EstimateError, did_you_mean

_HELP = "Of a data file: COLUMN=CHANNEL, a YAML file of channels, or the file of a question whose codes it holds."
channel_option = click.option("--channel", "channels", multiple=True, help=_HELP)
channel_or_question = click.option("--channel", "--question", "channels", multiple=True, help=_HELP)

weights_option = click.option(
    "--weights", type=PATH, help="Margins (.yaml, .json), one a report (.csv), or a file's column."
)


LEFT_OUT = (
    'column "{name}" is left out, as texts that mostly differ, empty columns and columns about others are. Say '
    '--channel "{name}=number" if it has numbers, --channel "{name}=public" if it has categories'
)
UNBROKEN = {0xA0: "\ue000", 0x202F: "\ue001"}
"""Spaces where no line may end, and signs in their place: rich breaks lines at every kind of space."""
_OPEN, _CLOSE = "\u2068", "\u2069"
_CELL = re.compile(r"[^\s\u2500-\u257f](?:[^\n\u2500-\u257f]*[^\s\u2500-\u257f])?")


def is_data_file(name: str | Path | None) -> bool:
    """Return whether this is the name of a data file: no survey has a name with a dot."""
    path = Path(name or "")
    return not path.is_dir() and (path.suffix.lower() in FORMATS or bool(path.suffix and path.is_file()))


def open_file(path: Path, channels: Sequence[str]) -> OpenData:
    """Open a data file with the channels that were given as ``COLUMN=CHANNEL``, or in YAML files. Raises SurveyError if
    the file or a channel is wrong; the message says where.
    """
    found: dict[str, Any] = {}
    links, table = [], read_table(path)
    for words in channels:
        given = _channels(words, table.columns)
        if str(given.get("then")).startswith("https:"):
            links.append(parse_link(given))
            continue
        if isinstance(given.get("mechanism"), Mapping):
            raise click.UsageError(f"{words} is asked in a window: its columns have their channels, so leave it out")
        if twice := sorted(given.keys() & found.keys()):
            raise click.UsageError(f"--channel gives column '{twice[0]}' two channels")
        found |= given
    opened = of_table(reduce(decode_codes, links, table), found) if links else open_data(path, found, table=table)
    for note in opened.notes:
        click.echo(terminal_words().in_this_language(note), err=True)
    return opened


def _channels(words: str, columns: Collection[str]) -> dict[str, Any]:
    # The name of a column may have a "=" itself, as REDCap's "Meds (choice=Aspirin)" has.
    ends = [each.start() for each in re.finditer("=", words)]
    end = next((each for each in reversed(ends) if words[:each].strip() in columns), words.find("="))
    column, equals, text = (words[:end], "=", words[end + 1 :]) if end >= 0 else (words, "", "")
    if not equals and Path(words).suffix.lower() in {".yaml", ".yml"}:
        return dict(read_channels(Path(words)))
    if not equals or not column.strip():
        raise click.UsageError("--channel is written as 'COLUMN=CHANNEL', such as 'cheated=coin_flip'")
    return {column.strip(): text.strip()}


_NAMES_OF_OPTIONS: Mapping[str, Sequence[str]] = {
    "shares": ["--share"],
    "regression.strata": ["--no-strata"],
    "anchors": ["--anchor"],
    "cluster_effect": ["--within-person"],
    "arm": ["--arm", "--treatment"],
}
"""Options that the command line calls otherwise than requests do."""

_SETTINGS: Mapping[Callable[[Any], Any], Mapping[str, Any]] = {
    requests.odds_of_groups: {"multiple": True},
    requests.confidence: {"type": Number(0.5, 1, max_open=True)},
    requests.known_shares: {"multiple": True},
    requests.people: {"multiple": True},
    requests.flag: {"flag_value": False, "type": bool},
}
"""Settings of click for what a reader of ``analysis.requests`` takes; a text without any."""


def request_options(kind: str, *names: str, **settings: Any) -> Callable[..., Any]:  # noqa: ANN401 - click's
    """Add options of a kind of analysis to a command, in this order, as its request has them."""
    return options_of(*(_option(requests.EVERY_KIND[kind], name, settings) for name in names))


def _option(request: type[requests.Request], name: str, settings: Mapping[str, Any]) -> Callable[..., Any]:
    option = request.__dataclass_fields__[name]
    schema = option.metadata["schema"]
    choices = [*filter(None, schema.get("enum", ()))]
    own = {"type": click.Choice(choices)} if choices else _SETTINGS.get(option.metadata["read"], {})
    if "integer" in schema.get("type", ()):
        own = {"type": click.IntRange(schema["minimum"], schema.get("maximum"))}
    # Other defaults stay with the request.
    default = option.default if isinstance(option.default, str) else None
    every = {"help": request.texts(name)["help"], "required": option.default is MISSING, "default": default}
    called = _NAMES_OF_OPTIONS.get(f"{request.kind}.{name}") or _NAMES_OF_OPTIONS.get(name, [f"--{name}"])
    return click.option(*called, name, **{**every, **own, **settings})


source_options = options_of(
    click.argument("survey", required=False),
    click.option("--from", "folder", type=PlaceName(), help="A folder of files, or s3://, instead."),
    click.option("--url", help="An aggregator instead, with a key in SOTTOVOCE_KEY."),
    click.option("--key-file", type=PATH, help="The file that holds the key."),
    data_option,
    channel_option,
    click.option(
        "--covariates",
        type=PATH,
        help="With --from: a file of your own columns, such as arm, one line for each report.",
    ),
    click.option(
        "--drop-few", is_flag=True, help="Of files: go without reports whose rare answer the file leaves out (few)."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output."),
)
"""The argument SURVEY, and the options of all analyses."""
subset_options = request_options("pairs", "wave", "where")
confidence_option = request_options("test", "confidence")
level_options = options_of(subset_options, confidence_option)
weighted_options = options_of(weights_option, level_options)


def reports_of(
    survey: str | None, folder: Path | str | None, url: str | None, key_file: Path | None, data: Path | None,
    channels: Sequence[str] = (), covariates: Path | None = None, drop_few: bool = False,
) -> sources.ReportSource:  # fmt: skip
    """Return the reports that are asked about; raises SurveyError if they are not there.

    ``survey`` is a name or a data file; of a folder of files, or of Parquet in a bucket, it may be left out. Without
    ``key_file`` the researcher's key for the aggregator at ``url`` is in the environment. ``channels`` are of the
    columns of a data file, ``covariates`` a file of columns to add to the reports of a folder.
    ``drop_few`` leaves the reports of files out whose rare answers they leave out.
    """
    if covariates is not None and folder is None:
        raise click.UsageError("--covariates is for --from: only the reports in files have an order")
    found: sources.FolderReports | DataReports
    if survey is not None and is_data_file(survey):
        found = open_file(Path(survey), channels).reports
        found.columns = replace(found.columns, few={}) if drop_few else found.columns
        return found
    if drop_few and folder is None:
        raise click.UsageError("--drop-few is for files: only they leave rare answers out as few")
    if channels:
        raise click.UsageError("--channel is for a data file, such as answers.csv, in the place of SURVEY")
    if sum(place is not None for place in (folder, url, data)) > 1:
        raise click.UsageError("--from, --url and --data are three places: name one")
    if folder is not None:
        found = sources.FolderReports(folder, survey, covariates)
        found.columns = replace(found.columns, few={}) if drop_few else found.columns
        return found
    if survey is None:
        raise click.UsageError("name the SURVEY, or a folder of files with --from")
    if url is not None:
        return AddressReports(url, survey, read_key(key_file))
    storage = open_survey(data, survey)
    storage.journal.append_once(RESULTS_READ, MACHINE, f"{survey} {snapshot_of(published(storage, survey))}")
    return sources.StoredReports(storage, survey, lambda: present(storage), show_progress)


def answer(kind: str, given: dict[str, Any], weights: Path | None = None) -> None:
    """Make an analysis of all that was ``given`` on the command line, and print it.

    ``weights`` is as for ``weights_from``.
    """
    options, as_json, place = split(kind, given)
    reports = reports_of(**place)
    each, margins = weights_from(weights, isinstance(reports, DataReports))
    show(ask(reports, kind, options if margins is None else {**options, "margins": margins}, each), as_json)


def show_file(kind: str, file: Path, options: dict[str, Any], as_json: bool, weights: Any = None) -> None:  # noqa: ANN401
    """Make an analysis of the columns of a file as they are, and print it."""
    asked = requests.parse_request(kind, options)
    show(asked.of_file(read_table(file), partial(data_columns, channels={}), weights), as_json)


def split(kind: str, given: dict[str, Any]) -> tuple[dict[str, Any], bool, dict[str, Any]]:
    """Return the options of an analysis that are not None, whether to print JSON, and the place of its reports."""
    names = {each.name for each in fields(requests.EVERY_KIND[kind])}
    options = {name: value for name, value in given.items() if name in names and value not in (None, ())}
    return options, given["as_json"], {name: given[name] for name in given.keys() - names - {"as_json"}}


def weights_from(weights: Path | None, of_data_file: bool) -> tuple[Any, MarginShares | None]:
    """Return the weights in a file, or the name of their column in a data file, and the margins to rake to."""
    if weights is None or weights.suffix.lower() == ".csv":
        return None if weights is None else sources.read_weights(weights), None
    is_column = of_data_file and weights.suffix.lower() not in {".yaml", ".yml", ".json"}
    return (str(weights), None) if is_column else (None, sources.read_margins(weights))


def ask(reports: sources.ReportSource, kind: str, options: dict[str, Any], weights: Any = None) -> dict[str, Any]:  # noqa: ANN401
    """Return the result of an analysis.

    Args:
        reports: what it is of.
        kind: of request.
        options: of it.
        weights: one a report.

    Raises:
        SurveyError: there is no such result; for an unknown question, the message suggests a similar name.
    """
    try:
        with waiting(terminal_words().translate("joint_analysing")):
            return reports.answer(kind, options, weights)
    except EstimateError as error:
        told, left_out = ("the survey has no question", "It asks"), set[str]()
        if isinstance(reports, DataReports):
            told, left_out = (f"{reports.survey.name} has no column", "It has"), {*reports.table.columns}
        _suggest_question(str(error), kind, options, told, left_out)
        raise


def _suggest_question(
    message: str, kind: str, options: dict[str, Any], told: tuple[str, str], left_out: Collection[str]
) -> None:
    """Raise EstimateError that names the unknown question or column of an error message, if there is one.

    ``left_out`` are columns that a file has, also those that cannot be analyzed.
    """
    _, _, listed = message.partition("the survey asks no such question; there are: ")
    known = listed.split(", ")
    for name in requests.parse_request(kind, options).names if listed else ():
        # A column of ids is no question.
        if name != options.get("cluster_effect") and not any(f"{name}.".startswith(f"{each}.") for each in known):
            if name in left_out:
                raise EstimateError(LEFT_OUT.format(name=name))
            raise EstimateError(f'{told[0]} "{name}".{did_you_mean(name, known)} {told[1]}: {listed}')


def show(document: dict[str, Any], as_json: bool) -> None:
    """Print an analysis: as tables and sentences in the language of the environment, or as the document itself."""
    if as_json:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    words = terminal_words()
    for shown in in_words(document, words):
        click.echo(_printed(shown, words.direction == "rtl"))


def _printed(shown: ShownTable, from_right: bool) -> str:
    """Return a table with its title and sentences for a terminal; ``from_right`` puts its first column there."""
    # What a file says is text, also where it has square brackets.
    console = Console(markup=False, emoji=False, highlight=False)
    order = slice(None, None, -1 if from_right else 1)
    table = Table()
    for place, heading in [*enumerate(shown.headings)][order]:
        # A name in the survey file is looked up as it stands, so none loses its end.
        table.add_column(
            heading.translate(UNBROKEN), justify="right" if (place > 0) != from_right else "left", overflow="fold"
        )
    for line in shown.lines:
        table.add_row(*(cell.translate(UNBROKEN) for cell in line[order]))
    with console.capture() as captured:
        console.print(table)
    drawn = captured.get().translate({ord(sign): space for space, sign in UNBROKEN.items()}) if shown.lines else ""
    texts = "".join(f"{filled(sentence, others='')}\n" for sentence in shown.sentences)
    lines = f"{filled(shown.title, others='')}\n{drawn}{texts}"
    return _CELL.sub(_isolated, lines) if from_right else lines


def _isolated(cell: re.Match[str]) -> str:
    """Return a cell, or a line, set apart, lest a terminal exchange it with those beside it."""
    text = cell[0]
    # The marks of a name that is in two lines would reach into the next cell.
    whole = text if text.count(_OPEN) == text.count(_CLOSE) else text.replace(_OPEN, "").replace(_CLOSE, "")
    return f"\u2067{whole}{_CLOSE}"
