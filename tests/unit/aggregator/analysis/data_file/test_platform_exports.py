"""Exports of survey platforms give their share as they are, by the commands of the page on them."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.analysis.data_file.file_analysis import SHARES, FileAnalysis, UploadedFile
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.cli.results.run_analysis import open_file
from sottovoce.shared.errors import EstimateError, SpecError

from tests.commands import done, run
from tests.unit.test_imports import ROOT

PAGE = (ROOT / "docs" / "how_to" / "from_your_platform.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (.+)\n\n(?:.+\n)+\n```csv\n([^`]*)```\n\n```sh\n(.+)\n```", re.MULTILINE)
EXPORTS = {name: (text, command) for name, text, command in SECTION.findall(PAGE)}
FORCED = {"SurveyMonkey", "Google Forms"}
"""Half of their people are made to say yes, so that two of four are nobody."""


def _channels(words: list[str]) -> list[str]:
    return [words[place + 1] for place, word in enumerate(words) if word == "--channel"]


def _share(document: Any) -> tuple[int, float]:
    """Number of answers and share of the one randomized column."""
    [found] = [each for each in document["questions"] if each["channel"]]
    return found["n"], found["estimates"][-1]["clipped"]


def test_page_has_an_export_of_each_platform() -> None:
    platforms = {
        "Qualtrics",
        "SurveyMonkey",
        "LimeSurvey",
        "REDCap",
        "Kobo",
        "Google Forms",
        "oTree",
        "jsPsych",
        "formr",
    }
    assert {*EXPORTS} >= platforms


@pytest.mark.parametrize("platform", EXPORTS)
def test_export_gives_its_share_in_terminal_and_studio(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of four people say yes."""
    text, command = EXPORTS[platform]
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(text, encoding="utf-8")
    words = shlex.split(command)
    assert "4" in done(run(*words[1:])).stdout

    share = 0 if platform in FORCED else 0.5
    document = open_file(Path("data.csv"), _channels(words)).shares().document
    given = dict(
        each.rsplit("=", 1) if each.count("=") == 1 else re.split(r"=(?=\w+ )", each) for each in _channels(words)
    )
    uploaded = FileAnalysis(SHARES, {}).document(UploadedFile("data.csv", text.encode(), given))["shares"]
    for found in (document, uploaded):
        assert _share(found) == (4, pytest.approx(share))


def test_lines_that_are_skipped_are_named(tmp_path: Path) -> None:
    """Of Qualtrics two; of SurveyMonkey one, whose options are then in brackets; lines are counted as in the file."""
    tables = []
    for platform in ("Qualtrics", "SurveyMonkey"):
        (tmp_path / "data.csv").write_text(EXPORTS[platform][0], encoding="utf-8")
        tables.append(read_table(tmp_path / "data.csv"))
    qualtrics, monkey = tables
    assert "the two lines below the names" in str(qualtrics.notes[0])
    assert qualtrics.lines.tolist() == [4, 5, 6, 7]
    assert "names are in two lines" in str(monkey.notes[0])
    assert monkey.lines.tolist() == [3, 4, 5, 6]
    assert [*monkey.columns][2:] == [
        "Which have you taken? [Aspirin]",
        "Which have you taken? [Ibuprofen]",
        "Heads: say yes. Tails: have you ever cheated?",
    ]


@pytest.mark.parametrize("name", ["x[{}]", "x [{}]", "x_{}", "x.{}.", "__js_x_{}", "Ever cheated? [{}]"])
def test_columns_of_one_question_are_found_however_they_are_called(tmp_path: Path, name: str) -> None:
    """A column called like the value's own name stays as it is."""
    heads = ",".join(name.format(each) for each in ("value", "channel", "once", "state"))
    (tmp_path / "data.csv").write_text(
        f"price_value,{heads}\n1,yes,coin_flip,device,answered\n2,no,coin_flip,no,answered\n"
    )
    opened = open_file(tmp_path / "data.csv", [])
    assert [each["name"] for each in opened.shares().document["questions"]] == [
        "price_value", "Ever cheated?" if "Ever" in name else "x"]  # fmt: skip


def test_column_of_channels_is_used_for_the_one_before_it(tmp_path: Path) -> None:
    """With a note; without a column before it, or beside one that has channels, the file is refused by its name."""
    path = tmp_path / "data.csv"
    path.write_text("id,Q5,Q6\n1,yes,coin_flip\n2,no,coin_flip\n")
    opened = open_file(path, [])
    assert _share(opened.shares().document) == (2, pytest.approx(0.5))
    assert "every value of Q6 is a channel, and is used for the answers in Q5" in str(opened.notes)
    for text in ("Q6,Q5\ncoin_flip,yes\n", "x,x_channel,y\nyes,coin_flip,coin_flip\n"):
        path.write_text(text)
        with pytest.raises(SpecError, match=r"column '(Q6|y)': holds channels"):
            open_file(path, [])


BAD_UPLOADS = [
    b"", b"\n", b"a,b\n[/x],1\n", b'"a\r\n', b"a\rb\r", b"sep=\n", b"Respondent ID\n\n",
    b'a\n"{""ImportId"":1}"\n', b"\xff\xfe\x00", b"a,b\r1,2\r\n3,4\n", b"a,b\n" + b"9999999999-12-31,-99\n" * 20,
]  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "ods", "por", "xpt", "sas7bdat"])
def test_bad_upload_is_an_error_in_words(ending: str) -> None:
    """Which name the file; or a result, and no other exception."""
    for data in BAD_UPLOADS:
        rows, told = [], ""
        try:
            rows = FileAnalysis(SHARES, {}).document(UploadedFile(f"data.{ending}", data, {}))["rows"]
        except EstimateError as error:
            told = str(error)
        assert rows or f"data.{ending}" in told, data


def test_ids_and_times_of_an_export_are_no_shares(tmp_path: Path) -> None:
    """A page of them would hide the figure that is asked for; few texts, and numbers with a text, stay."""
    rows = [f"2026-11-01 10:{one:02d}:00,R_{one},{20 + one},{'ab'[one % 2]},yes\n" for one in range(40)]
    (tmp_path / "data.csv").write_text("StartDate,ResponseId,age,group,cheated\n" + "".join(rows))
    opened = open_file(tmp_path / "data.csv", ["cheated=coin_flip"])
    assert opened.questions == ("age", "group", "cheated")
