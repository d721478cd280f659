"""Write reports for SPSS (.sav) and Stata (.dta), with labels, and the channel of each yes/no question.

A rare answer that is left out has a code of its own below the least value, labelled ``few``. Of a number or date it is
declared missing, in Stata .a, else a mean would take in a day before the first; options are counted, few among them.
Columns NAME_a and NAME_b contain P(1 | yes) and P(1 | no) of the report's own revision, for programs that take them row
by row, such as R's GLMMRR. Names that a format does not allow get the prefix "q_" and are cut to length; the codebook
lists those. An option whose name is a number has it as its code. The notes of an SPSS file contain every channel; a
Stata file has no notes. The library requires the whole table in memory: 4 bytes per code, 8 per number.
"""

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, is_few
from sottovoce.aggregator.export.channels import Channel, codings
from sottovoce.aggregator.export.labels import question_label, scale_of, value_labels
from sottovoce.aggregator.export.tables import few_code, missing_as_nan, named_columns, option_codes, unit_grid
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.shared.spec import Question, Survey
from sottovoce.shared.types.base import DayGrid

_SPSS = {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"}
_STATA = {"byte", "double", "float", "if", "in", "int", "long", "using", "with"}
_RESERVED = _SPSS | _STATA | {f"str{length}" for length in ("l", *range(1, 2046))}
_NOTE = 80
_NO_ANSWERS = "Values of private questions are randomized reports and not answers. Channel of each question:"
_SHORTENED = (
    "Labels of the values of {name} are cut to 120 bytes, or have their code added; the codebook has them whole."
)
_FILE_LABEL = {".sav": 64, ".dta": 80}
_MEASURES = {"interval": "scale", "ordinal": "ordinal", "nominal": "nominal"}
_SPSS_START = datetime(1582, 10, 14)
_DAY = {".sav": "DATE11", ".dta": "%td"}
"""Format of a day without a time."""


@dataclass(frozen=True)
class _Format:
    """Limits of a file format: letters of a column's name and of its label, and bytes of UTF-8 of both labels."""

    name: int
    letters: int
    label: int
    value: int


# Stata's limit of names is 32, of which the library takes up to three for the number of a column's value labels.
_MORE_LABELS = {"wave": "Wave of the report, from 0", "revision": "Revision of the survey that was answered"}
_FORMATS = {".sav": _Format(64, 255, 255, 120), ".dta": _Format(29, 80, 320, 30_000)}


def write_statistics_file(
    path: Path, reports: ReportColumns, channels: Sequence[Channel], about: About, remarks: Iterable[str] = ()
) -> None:
    """Write reports, already in a new random order, to a ``.sav`` or ``.dta`` file, with labels and provenance.

    ``remarks`` are for the notes of SPSS; a Stata file has none.
    """
    pandas, pyreadstat = needed("pandas"), needed("pyreadstat")
    kind = path.suffix
    allowed, language = _FORMATS[kind], about.survey.default_language
    # A question that is not in the file may be called wave, as the column of waves is.
    questions = {question.name: question for question in about.survey.questions if question.name in reports.columns}
    grids = {name: unit_grid(question) for name, question in questions.items()}
    columns = {name: missing_as_nan(values, grids.get(name)) for name, values in named_columns(reports).items()}
    one_code = {name: question for name, question in questions.items() if len(codings(channels, name)) < 2}
    columns |= {name: _own_codes(columns[name], question) for name, question in one_code.items()}
    columns |= _channel_columns(channels, reports)
    days = [name for name, grid in grids.items() if isinstance(grid, DayGrid)]
    columns |= {name: _stata_days(columns[name]) for name in days if kind == ".dta"}
    names = column_names(about.survey, kind)
    labels = {
        names[name]: cut(text, min(allowed.label, len(text[: allowed.letters].encode())))
        for name, question in questions.items()
        for text in [question_label(question, language)]
    }
    whole_values = {name: _labels_of_codes(question, language) for name, question in one_code.items()}
    values: dict[str, dict[Any, str]] = {
        names[name]: cut_apart(texts, allowed.value) for name, texts in whole_values.items()
    }
    shortened = [name for name, texts in whole_values.items() if values[names[name]] != texts]
    declared: dict[str, list[Any]] = {}
    for name, question in questions.items():
        left_out, code = is_few(reports.columns[name]), few_code(question)  # type: NDArray[np.bool_], Any
        if left_out.any() and grids[name] is not None:
            declared[names[name]] = [(code - _SPSS_START).total_seconds() if isinstance(code, datetime) else code]
            if kind == ".dta":
                columns[name] = np.where(left_out, code := "a", columns[name].astype(object))
                declared[names[name]] = [code]
        if left_out.any():
            values[names[name]][code] = FEW
    of_channels = {
        names[f"{channel.question.name}_{letter}"]: cut(f"P(1 if {truth}) of {channel.question.name}", 80)
        for channel in _yes_no(channels)
        for letter, truth in (("a", "yes"), ("b", "no"))
    }
    metadata: dict[str, Any] = {
        "file_label": _whole_letters("; ".join(about.lines), _FILE_LABEL[kind]),
        "column_labels": {names[name]: _MORE_LABELS.get(name.strip("_"), "") for name in columns.keys() - questions}
        | labels
        | of_channels,
        "variable_value_labels": {name: known for name, known in values.items() if known},
        "variable_format": {names[name]: _DAY[kind] for name in days},
    }
    if kind == ".sav":
        metadata |= {"row_compress": True, "missing_ranges": declared}
        metadata["note"] = notes(about, channels, [*remarks, *(_SHORTENED.format(name=name) for name in shortened)])
        metadata["variable_measure"] = {names[q.name]: _MEASURES[scale_of(q)] for q in questions.values()}
    else:
        metadata["missing_user_values"] = declared
    write = pyreadstat.write_sav if kind == ".sav" else pyreadstat.write_dta
    write(pandas.DataFrame({names[name]: each for name, each in columns.items()}, copy=False), path, **metadata)


def column_names(survey: Survey, kind: str) -> dict[str, str]:
    """Return the names of all columns of a ``.sav`` or ``.dta`` file by their names in ``reports.csv``."""
    questions = [question.name for question in survey.questions]
    more = [name for each in ("wave", "revision") for name in (each, f"_{each}")]
    channels = [f"{name}_{letter}" for name in questions for letter in "ab"]
    # Names of all questions are made together, so that no name depends on the choice of columns.
    columns = list(dict.fromkeys((*questions, *more, *channels)))
    return dict(zip(columns, allowed_names(columns, _FORMATS[kind].name), strict=True))


def allowed_names(names: Sequence[str], longest: int) -> list[str]:
    """Return valid, unique column names of at most ``longest`` letters for the statistics programs.

    Question names are lower case, so the results are unique for case-insensitive programs too.
    """
    found: list[str] = []
    for name in names:
        plain = (f"q_{name.lstrip('_')}" if not name[0].isalpha() or name in _RESERVED else name)[:longest]
        number, different = 2, plain
        # Cut names may collide; a number makes them unique.
        while different in found:
            end = f"_{number}"
            number, different = number + 1, plain[: longest - len(end)] + end
        found.append(different)
    return found


def cut(text: str, longest: int) -> str:
    """Cut a text to at most ``longest`` bytes of UTF-8, between words if it has any, else between characters."""
    short = _whole_letters(text, longest)
    if short == text or text[len(short)] == " ":
        return short
    return short[: short.rfind(" ")] if " " in short else short


def cut_apart(texts: Mapping[int, str], longest: int) -> dict[int, str]:
    """Cut labels of values so that they differ: R makes one category of two with the same label."""
    short = {code: cut(text, longest) for code, text in texts.items()}
    often = Counter(short.values())
    return {
        code: f"{cut(text, longest - len(f' ({code})'))} ({code})" if often[short[code]] > 1 else short[code]
        for code, text in texts.items()
    }


def _own_codes(column: NDArray[Any], question: Question) -> NDArray[Any]:
    """Return a column with the codes of the options' names in the place of their numbers."""
    codes = option_codes(question)
    if not codes:
        return column
    places = [column == place for place in range(-1, len(codes))]
    return np.select(places, [*map(float, (min((0, *codes)) - 1, *codes))], np.nan)


def _stata_days(days: NDArray[Any]) -> NDArray[np.float64]:
    """Return days from 1960 as the format of days counts them; the library would write milliseconds."""
    return np.where(np.isnat(days), np.nan, (days - np.datetime64("1960-01-01")) / np.timedelta64(1, "D"))


def _labels_of_codes(question: Question, language: str) -> dict[int, str]:
    codes, labels = option_codes(question), value_labels(question, language)
    return {codes[value] if codes else value: text for value, text in labels.items()}


def _whole_letters(text: str, longest: int) -> str:
    return text.encode()[:longest].decode(errors="ignore")


def notes(about: About, channels: Sequence[Channel], remarks: Sequence[str] = ()) -> list[str]:
    """Return the provenance, the remarks and each question's channel, in lines that SPSS accepts."""
    texts = [
        *about.lines,
        *remarks,
        _NO_ANSWERS,
        *(f"{channel.question.name}: {channel_text(channel)}" for channel in channels),
    ]
    return [line for text in texts for line in textwrap.wrap(text.encode("ascii", "replace").decode(), _NOTE)]


def channel_text(channel: Channel) -> str:
    """Describe a channel's numbers, for labels."""
    if channel.mechanism is None:
        return "public, as given"
    if channel.scores:
        return f"{channel.mechanism.name}, scores.csv"
    _, _, _, _, a, b = channel.shares[0]
    together = f"; {channel.block}" if channel.block else ""
    return f"{channel.mechanism.name}, a {float(a):.6g}, b {float(b):.6g}{together}"


def _yes_no(channels: Sequence[Channel]) -> list[Channel]:
    return [c for c in channels if c.mechanism and len(c.shares) == 1]


def _channel_columns(channels: Sequence[Channel], reports: ReportColumns) -> Mapping[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for channel in _yes_no(channels):
        rows = np.isin(reports.revision, channel.revisions)
        for letter, number in zip("ab", channel.shares[0][4:], strict=True):
            # Where all rows have the same number, it is in memory once.
            name, every = f"{channel.question.name}_{letter}", np.broadcast_to(float(number), len(rows))
            found[name] = every if rows.all() else np.where(rows, every, found.get(name, np.nan))
    return found
