"""Every file of a try-out says so first; files of reports are refused while more may come."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import duckdb
import pyreadstat
import pytest
from sottovoce.aggregator.authoring.templates import template_file
from sottovoce.aggregator.export.archive import write_folder, write_zip
from sottovoce.aggregator.export.catalogue import (
    AT_ANY_TIME,
    OF_REPORTS,
    RELEASED,
    SINGLE,
    WITH_PUBLIC,
    Source,
    estimated_in_words,
    preregistration,
    protection_in_words,
)
from sottovoce.aggregator.file_formats.provenance import TRIAL
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import EstimateError

from tests.blocks import block, blocks, in_block
from tests.exported import drawn, published, send, source
from tests.surveys import survey


@pytest.fixture
def opened(tmp_path: Path) -> Source:
    storage = published(tmp_path, survey())
    send(storage, survey(), drawn(survey(), 60))
    return source(storage, survey())


@pytest.mark.parametrize("name", [*OF_REPORTS, *WITH_PUBLIC])
def test_file_of_reports_is_refused_while_the_survey_is_open(opened: Source, tmp_path: Path, name: str) -> None:
    """And nothing is written."""
    with pytest.raises(EstimateError, match=r"the survey is open: .*files of reports exist once it is closed"):
        SINGLE[name](opened, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_all_files_together_are_refused_while_the_survey_is_open(opened: Source, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(EstimateError, match="the survey is open"):
        write_folder(opened, tmp_path / "folder")
    with pytest.raises(EstimateError, match="the survey is open"):
        write_zip(opened, tmp_path / "all.zip")
    assert sorted(path.name for path in tmp_path.glob("*.zip")) == []


@pytest.mark.parametrize("name", AT_ANY_TIME)
def test_other_files_come_at_any_time(opened: Source, tmp_path: Path, name: str) -> None:
    """Of texts and shown counts."""
    SINGLE[name](opened, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0


def first_of(path: Path) -> str:
    """The first line of a file, or where a format has none, what it says of itself."""
    if path.suffix == ".parquet":
        with duckdb.connect() as connection:
            rows = connection.sql("SELECT value FROM parquet_kv_metadata($file)", params={"file": str(path)}).fetchall()
            return str(rows[0][0].decode())
    if path.suffix in {".sav", ".dta"}:
        read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
        return str(read(path, metadataonly=True)[1].file_label)
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            # The first text is that of the first cell.
            return book.read("xl/sharedStrings.xml").decode().split("<t>")[1]
    return path.read_text(encoding="utf-8").splitlines()[0]


def test_every_file_of_a_try_out_says_so_first(tmp_path: Path) -> None:
    """Also while it is open: nobody shall take it for the real survey."""
    asked = survey(trial=True)
    storage = published(tmp_path, asked)
    send(storage, asked, drawn(asked, 60))
    found = source(storage, asked)
    (tmp_path / "all").mkdir()
    write_folder(found, tmp_path / "all")
    for name, write in WITH_PUBLIC.items():
        write(found, tmp_path / "all" / name)
    storage.close()

    said = {path.name: first_of(path) for path in (tmp_path / "all").iterdir()}
    marked = {name for name, line in said.items() if TRIAL in line or '"trial":true' in line.replace(" ", "")}
    # Nothing is published under a budget of a try-out.
    assert len(said) == len(SINGLE) - len(RELEASED) + 1
    # Of the two short labels the warning is what fits.
    marked |= {name for name in said if name.endswith(("sav", "dta")) and said[name] == TRIAL[: len(said[name])]}
    assert set(said) - marked == set()


def test_methods_tell_figures_channels_and_sources(every: Source, folder: Path) -> None:
    """The numbers of this survey, and each mechanism's page of mathematics once."""
    text = (folder / "methods.md").read_text(encoding="utf-8")

    assert "300 reports were counted and 0 were withdrawn" in " ".join(text.split())
    assert "binary_rr (yes 2/3, no 1/3), epsilon 0.70." in text
    for question in every.about.survey.questions:
        assert f"## {question.name}: " in text
        if question.mechanism is not None:
            assert text.count(f"\n## {question.mechanism.name}\n") == 1
    assert "Warner 1965 (the opposite question)" in text


def test_methods_of_a_direct_arm_claim_no_protection_for_it(tmp_path: Path) -> None:
    """What was sent as given is named, and so is the arm in which nothing is randomized."""
    file = tmp_path / "protection.yaml"
    file.write_bytes(template_file("protection"))
    text = protection_in_words(read_survey_file(file))

    assert "Answers to copied were randomized" in text
    assert "Answers to year, copied_direct, moon were sent as given, without protection" in text
    assert "Nothing is randomized in the reports of direct." in text
    assert "locally differentially private (delta = 0), whatever else is known." in text
    public = [{"type": "boolean", "name": "q", "label": {"en": "Q?"}, "public": True}]
    assert protection_in_words(survey(questions=public)) == "Every answer was sent as given; nothing was randomized."


def test_methods_claim_protection_by_a_fact_from_those_who_do_not_know_it() -> None:
    """Whoever knows the fact knows more than epsilon says."""
    example = Path(__file__).parents[4] / "shared/sottovoce/examples/mechanisms/cheater_detection.yaml"
    text = protection_in_words(read_survey_file(example))
    assert "private (delta = 0), as long as no one who sees it knows the person's facts." in text
    assert "whatever" not in text


def test_methods_correct_no_public_answers_for_noise(tmp_path: Path) -> None:
    """Of public answers only, of some, and of none."""
    file = tmp_path / "protection.yaml"
    file.write_bytes(template_file("protection"))
    label = {"label": {"en": "Q?"}}
    public = [{"type": "boolean", "name": "q", "public": True, **label}]
    private = [{"type": "boolean", "name": "q", "mechanism": {"name": "coin_flip"}, **label}]
    some = estimated_in_words(read_survey_file(file))

    assert estimated_in_words(survey(questions=public)) == (
        "Shares and means are those of the reports; 95% intervals are score intervals with continuity correction."
    )
    assert some.startswith("Shares and means of randomized answers were estimated without bias from the counts")
    assert some.endswith("Those of answers sent as given are shares and means of the reports.")
    assert estimated_in_words(survey(questions=private)).endswith("carried over to the true share.")


def test_survey_read_again_has_the_same_digest(every: Source, folder: Path) -> None:
    """From YAML and from JSON: every text, every number, every default."""
    for name in ("survey.yaml", "survey.json"):
        assert read_survey_file(folder / name).digest == every.about.survey.digest


def test_preregistration_says_what_was_frozen(every: Source, folder: Path) -> None:
    """Questions with their channels, cost, window, and how figures are made."""
    document = json.loads((folder / "preregistration.json").read_text(encoding="utf-8"))
    survey = every.about.survey

    assert document["revisions"] == [{"revision": 1, "digest": survey.digest}]
    assert (document["opens"], document["closes"]) == ("2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z")
    assert [each["name"] for each in document["questions"]] == [question.name for question in survey.questions]
    assert document["questions"][0]["mechanism"] == {"name": "binary_rr", "a": "2/3", "b": "1/3"}
    assert document["epsilon_total"] == survey.epsilon
    assert document["analysis"]["interval"] == "score-cc"
    assert "trial" not in document


def test_preregistration_says_for_how_many_people_it_was_planned(every: Source) -> None:
    """Who wrote the survey said so before it was published; else it says that nobody did."""
    about = every.about
    told = []
    for plan in (every.plan, PlannedSize(1500, 4000)):
        told.append(preregistration(every.revisions, about, plan)["planned"])
    assert told == [{"people": None, "group": None}, {"people": 1500, "group": 4000}]


def test_preregistration_says_which_questions_of_a_block_are_asked(every: Source) -> None:
    """Nothing else in it tells that they are randomized together, or that people are asked some of them."""
    about = replace(every.about, survey=blocks(block(*map(in_block, "abc")) | {"ask": 2}))
    document = preregistration(every.revisions, about, every.plan)
    assert document["blocks"] == ["joint_rr odds=9 radius=0 k=2,2,2 ask=2 with=a,b,c"]
