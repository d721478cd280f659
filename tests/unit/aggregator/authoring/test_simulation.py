"""A rehearsal hangs on the survey and the setting alone, finds what was set, and says in every file that it is one."""

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sottovoce.aggregator import open_results
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.authoring.simulation import MOST_PEOPLE, Rehearsal, Setting, read_setting
from sottovoce.aggregator.export.archive import write_folder, write_zip
from sottovoce.aggregator.export.catalogue import AT_ANY_TIME, OF_REPORTS
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import load_survey

from tests.surveys import every_type, survey

NOW = datetime(2026, 6, 15, tzinfo=UTC)
ASKED = survey()


def setting(**query: str) -> Setting:
    """What an address with these parameters sets; two lines stand for a dot."""
    return read_setting(ASKED, {key.replace("__", "."): value for key, value in query.items()}, None)


def rehearsal(**query: str) -> Rehearsal:
    return Rehearsal.of(ASKED, setting(**query))


def test_nothing_set_is_ten_percent_for_yes_and_options_alike() -> None:
    found = setting()
    cheated, reason, year = found.wanted

    assert (found.people, found.again, found.refused) == (1000, 1, ())
    assert cheated.shares == pytest.approx((0.9, 0.1))
    assert reason.shares == pytest.approx((1 / 3,) * 3)
    assert year.shares == pytest.approx((0.5, 0.5))
    assert read_setting(ASKED, {}, 250).people == 250
    assert read_setting(ASKED, {}, 10**7).people == MOST_PEOPLE


def test_what_was_set_is_read_and_leads_back_to_itself() -> None:
    found = setting(n="500", again="3", set__cheated__yes="12,5 %", set__reason__time="50", set__reason__fear="50",
                    set__reason__fun="0")  # fmt: skip

    assert (found.people, found.again) == (500, 3)
    assert found.wanted[0].shares == pytest.approx((0.875, 0.125))
    assert found.wanted[1].shares == (0.5, 0.5, 0)
    assert "set.year.first" not in found.query
    assert read_setting(ASKED, found.query, None) == found


@pytest.mark.parametrize(
    "query",
    [
        {"n": "0"},
        {"n": str(MOST_PEOPLE + 1)},
        {"n": "many"},
        {"set__cheated__yes": "101"},
        {"set__cheated__yes": "-1"},
        {"set__cheated__yes": "nan"},
        {"set__cheated__yes": "half"},
        {"set__reason__time": "0", "set__reason__fear": "0", "set__reason__fun": "0"},
    ],
)
def test_what_cannot_be_set_is_named_and_not_taken(query: dict[str, str]) -> None:
    found = setting(**query)

    assert set(found.refused) == {key.replace("__", ".") for key in query}
    assert (found.people, found.wanted) == (1000, setting().wanted)


def test_yes_and_declining_are_no_more_than_everybody() -> None:
    question = {"type": "boolean", "name": "q", "label": {"en": "Q?"}, "absent_category": True,
                "mechanism": {"name": "kary_rr", "odds": "3"}}  # fmt: skip
    asked = survey(questions=[question])

    assert read_setting(asked, {}, None).wanted[0].shares == pytest.approx((0.9, 0.1, 0))
    both = read_setting(asked, {"set.q.yes": "60", "set.q.absent": "30"}, None)
    assert both.wanted[0].shares == pytest.approx((0.1, 0.6, 0.3))
    assert len(read_setting(asked, {"set.q.yes": "60", "set.q.absent": "50"}, None).refused) == 2


def test_means_are_set_in_the_unit_of_the_question() -> None:
    asked = survey(questions=every_type())
    names = [field.name for field in read_setting(asked, {}, None).fields]
    found = read_setting(asked, {"set.days": "4", "set.since": "1899-01-01", "set.compass.o0": "0,5"}, None)

    assert {"set.days", "set.since", "set.compass.o0", "set.compass.o1"} <= set(names)
    assert found.refused == ("set.since",)
    days = Rehearsal.of(asked, found).document["questions"]["days"]
    assert days == {"mean": 4.0}


def test_survey_and_setting_decide_everything() -> None:
    one, same = rehearsal(), rehearsal()
    others = [rehearsal(again="2"), rehearsal(n="999"), rehearsal(set__cheated__yes="11"),
              Rehearsal.of(survey(title={"en": "Other"}), setting())]  # fmt: skip

    assert (one.reports.numbers == same.reports.numbers).all()
    assert one.reports.revision == same.reports.revision
    assert not any((one.reports.numbers[:999] == other.reports.numbers[:999]).all() for other in others)


def test_estimates_stand_beside_what_was_set() -> None:
    """The interval of each holds the share that was set, with these dice; the invented people's own share is told."""
    found = rehearsal(n="20000")
    for result in analyse(found.revisions).questions:
        for each in found.comparisons(result):
            assert abs(each.invented - each.was_set) < 0.02
            assert each.estimate.low <= each.invented <= each.estimate.high


def test_tables_come_from_the_same_people() -> None:
    found = rehearsal()
    document = parse_request("crosstab", {"rows": "cheated", "columns": "year"}).document(found.reports.columns)

    assert document["n"] == 1000
    assert document["independence"]["p"] > 0.0001


def test_every_file_says_first_that_it_is_a_rehearsal(tmp_path: Path) -> None:
    source = rehearsal(n="40").source(NOW)
    for name, write in (AT_ANY_TIME | OF_REPORTS).items():
        write(source, tmp_path / name)
        body = (tmp_path / name).read_bytes()
        if name.endswith(".xlsx"):
            with zipfile.ZipFile(io.BytesIO(body)) as book:
                body = book.read("xl/sharedStrings.xml")
        binary = name.rpartition(".")[2] in {"xlsx", "parquet", "sav", "dta"}
        place = body.upper().find(b"SIMULATION")
        assert 0 <= place < (len(body) if binary else 200), name
    write_zip(source, tmp_path / "everything.zip")
    with zipfile.ZipFile(tmp_path / "everything.zip") as archive:
        assert all(name.startswith("SIMULATION-exam/") for name in archive.namelist())
        manifest = json.loads(archive.read("SIMULATION-exam/manifest.json"))
    assert manifest["rehearsal"] is True
    assert manifest["set"]["questions"]["cheated"] == {"no": 0.9, "yes": 0.1}
    assert set(manifest["sha256"]) == {*AT_ANY_TIME, *OF_REPORTS}


def test_nothing_that_reads_real_files_takes_those_of_a_rehearsal(tmp_path: Path) -> None:
    write_folder(rehearsal(n="40").source(NOW), tmp_path)
    with pytest.raises(SpecError, match="this is a simulation"):
        open_results(tmp_path)
    with pytest.raises(SpecError, match="this is a simulation"):
        open_results(tmp_path / "export.json")
    with pytest.raises(SpecError, match="rehearsal"):
        load_survey((tmp_path / "survey.json").read_bytes())
    for name in ("reports.csv", "reports.parquet"):
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        (folder / "survey.json").write_bytes(ASKED.canonical)
        (folder / name).write_bytes((tmp_path / name).read_bytes())
        with pytest.raises(SpecError, match="this is a simulation"):
            open_results(folder)
