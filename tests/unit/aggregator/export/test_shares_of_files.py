"""A share has one n and one figure in all files; where files do not tell who was asked, they say so."""

import csv
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis import published_counts
from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.to_survey import set_direct_half
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.export.catalogue import SINGLE, Source
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.i18n.translator import ENGLISH
from sottovoce.aggregator.planning.simulated_survey import hide, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import names, survey
from tests.exported import NOW, TODAY, published, send, source
from tests.unit.aggregator.analysis.survey_of_reports import COIN, asked
from tests.vectors.arms import arms
from tests.vectors.tape import Tape

PEOPLE = 640
OPTIONS = {"gender": 3, "age": 3, "study": 3, "year": 3, "grades": 3, "risk": 11, "pressure": 11}
SENSITIVE = dict.fromkeys(("copied", "crib", "drugs"), "sat_exam") | dict.fromkeys(("stolen", "bought"), "wrote_paper")
FILES = (
    "reports.csv",
    "channels.csv",
    "scores.csv",
    "estimates.csv",
    "codebook.html",
    "ddi.xml",
    "analysis.py",
    "analysis.R",
)
KARY = {"name": "kary_rr", "odds": "9"}
Table = list[dict[str, str]]


def studied(**chosen: bool) -> Survey:
    """The published survey on exams and papers, half of it asked directly: columns as Publish chooses, or as given."""

    def card(name: str, harm: str, kind: str = "boolean", **more: Any) -> DraftItem:
        files = {"in_files": chosen[name]} if name in chosen else {}
        return DraftItem({"type": kind, "name": name, "label": {"en": f"{name}?"}, **files, **more}, harm)

    cards = [card(name, "public", "select_one", choices=names(size)) for name, size in OPTIONS.items()]
    cards += [card(name, "public") for name in ("sat_exam", "wrote_paper")]
    cards += [card(name, "clearly", visible_if={gate: "yes"}) for name, gate in SENSITIVE.items()]
    head = {"title": {"en": "Exams and papers"}, "default_language": "en", "revision": 1}
    draft = SurveyDraft(head, tuple(cards), people=700, chooses_columns=True)
    return survey_of_draft(set_direct_half(draft, wanted=True), "exams")


def any_survey(seed: int) -> Survey:
    """Public questions, some of them in files; randomized ones that hang on one or two of them; arms in every other."""
    draw = Random(seed)  # noqa: S311 - a test of any survey
    public = [
        asked(f"p{number}", "select_one", None, choices=names(draw.randint(2, 4)), **files)
        for number in range(3)
        for files in [{"in_files": True} if draw.random() < 0.6 else {}]
    ]
    private = []
    for number in range(4):
        on = {f"p{place}": ["c0", "c1"][: draw.randint(1, 2)] for place in draw.sample(range(3), draw.randint(1, 2))}
        mechanism, how = draw.choice([(KARY, {"absent_category": True}), (COIN, {"when_absent": "no"})])
        arm = {"arm": draw.choice(["direct", "protected"])} if seed % 2 else {}
        conditions = {draw.choice(["visible_if", "any_of"]): on}
        # A randomized answer may decide as well, of which nothing is known.
        on |= {f"q{number - 1}": ["yes"]} if number and not arm else {}
        private.append(asked(f"q{number}", "boolean", mechanism, **conditions, **how, **arm))
    return parse_survey(survey(*public, *private, name="exams", **({"arms": arms(1, 1)} if seed % 2 else {})))


@dataclass(frozen=True)
class Exported:
    folder: Path
    survey: Survey

    def table(self, name: str) -> Table:
        with (self.folder / name).open(encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def told(self) -> set[str]:
        """Return the randomized questions of which all files that explain or compute say that they differ."""
        run = [sys.executable, str(self.folder / "analysis.py")]
        texts = [(self.folder / name).read_text(encoding="utf-8") for name in FILES[4:]]
        texts.append(subprocess.run(run, capture_output=True, text=True, check=True).stderr)
        found = [
            {name for name in self.survey.conditional if f"{name}: files of reports have n = " in unescape(text)}
            for text in texts
        ]
        assert all(each == found[0] for each in found)
        return found[0]

    def by_channel(self) -> dict[str, tuple[int, float]]:
        """Return n and the share of yes of each randomized question, by reports and channel alone."""
        found, reports = {}, self.table("reports.csv")
        for row in self.table("channels.csv"):
            cells = [each[row["question"]] for each in reports if each[row["question"]]]
            if row["option"] == "yes":
                a, b = float(row["a"]), float(row["b"])
                found[row["question"]] = len(cells), (cells.count(row["code"]) / len(cells) - b) / (a - b)
        return found

    def estimates(self) -> dict[str, tuple[int, float]]:
        return {
            row["question"]: (int(row["n"]), float(row["raw"]))
            for row in self.table("estimates.csv")
            if row["option"] == "yes" and row["among"] in {"all", "asked", "perhaps_asked"} and not row["cohort"]
        }

    def decided(self) -> set[str]:
        reports = self.table("reports.csv")
        whole = {name for name in reports[0] if all(each[name] != "few" for each in reports)}
        return {
            question.name
            for item in self.survey.items
            for question in item.questions
            if item.conditions and {each.question for each in item.conditions} <= whole
        }


def exported(folder: Path, asked: Survey, people: int = PEOPLE, *more: str) -> Exported:
    storage = published(folder, asked)
    draw = np.random.default_rng(1)
    sizes = [len(question.options) - question.domain.absent for question in asked.questions]
    truths = hide(asked, [draw.integers(0, size, people) for size in sizes])
    numbers = reports_of(asked, truths, BatchDraws(Tape("files"))).numbers
    send(storage, asked, np.where(is_null(numbers), None, numbers).tolist())
    storage.close_survey(asked.name, TODAY)
    found = source(storage, asked)
    for name in (*FILES, *more):
        SINGLE[name](found, folder / name)
    storage.close()
    return Exported(folder, asked)


def test_published_survey_has_one_figure_by_default(tmp_path: Path) -> None:
    """Both deciding questions are in the files, before others, and those never asked are left out everywhere."""
    found = exported(tmp_path, studied())
    estimates, shares = found.estimates(), found.by_channel()

    shown = [each.name for each in found.survey.questions if "in_files" in each.marks]
    assert shown == ["gender", "sat_exam", "wrote_paper", "copied_direct", "arm"]
    assert {name: estimates[name] for name in SENSITIVE} == {
        name: (n, pytest.approx(share, abs=1e-9)) for name, (n, share) in shares.items()
    }
    assert max(n for n, _ in shares.values()) < 0.4 * PEOPLE
    assert not found.told()


def test_more_columns_leave_the_figure_as_it_is(tmp_path: Path) -> None:
    """Rare combinations with three more are left out of these three, and not of what decides who was asked."""
    found = exported(tmp_path, studied(age=True, study=True, year=True))

    assert any("few" in {row["study"], row["year"]} for row in found.table("reports.csv"))
    assert {*SENSITIVE} <= found.decided()
    assert not found.told() & {*SENSITIVE}


def test_files_of_fewer_people_than_results_say_so(tmp_path: Path) -> None:
    """Such as those of a closed wave of an open survey, whose results count everybody."""
    asked = studied()
    exported(tmp_path, asked)
    with closing(SQLiteStorage(tmp_path / "sottovoce.sqlite")) as storage:
        notes = Source(storage, published_counts.published(storage, "exams"), NOW).notes

    assert {*SENSITIVE} <= notes.keys()
    assert notes["copied"].endswith("count as no answer on Results; the files leave them out.")


def test_files_say_what_they_cannot_tell(tmp_path: Path) -> None:
    """Without one of the two, its questions have two figures: every file that computes or explains names both n."""
    found = exported(tmp_path, studied(sat_exam=False), PEOPLE, "reports.sav")
    estimates, shares = found.estimates(), found.by_channel()
    notes = " ".join(needed("pyreadstat").read_sav(tmp_path / "reports.sav")[1].notes)

    assert found.told() == {"copied", "copied_direct", "crib", "drugs"}
    assert shares["copied"][0] > estimates["copied"][0]
    said = (
        f"copied: files of reports have n = {shares['copied'][0]}, Results and estimates.csv n = "
        f"{estimates['copied'][0]}. People who were not asked count as no answer in the files; Results leave them out."
    )
    assert said in unescape((tmp_path / "codebook.html").read_text(encoding="utf-8"))
    assert said in " ".join(notes.split())
    assert {name: estimates[name] for name in ("stolen", "bought")} == {
        name: (n, pytest.approx(share, abs=1e-9)) for name, (n, share) in shares.items() if name in {"stolen", "bought"}
    }


def test_random_surveys_have_one_figure_or_say_that_there_are_two(tmp_path: Path) -> None:
    """Where the files have the condition's columns, n and share by the channel alone are those of estimates.csv."""
    kinds = set()
    for seed in range(10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found = exported(folder, any_survey(seed), 300)
        estimates, shares, told, decided = found.estimates(), found.by_channel(), found.told(), found.decided()
        for name, (n, share) in shares.items():
            kinds.add((name in decided, name in told))
            assert (name in told) == (n != estimates[name][0])
            if name not in told:
                assert estimates[name] == (n, pytest.approx(share, abs=1e-9))
        assert not decided & told

    assert kinds >= {(True, False), (False, True)}


def test_codebook_rounds_a_share_as_the_page_does(tmp_path: Path) -> None:
    """Of 400 people every second share lies halfway between two, and of some the nearest number is below it."""
    survey_of = parse_survey(survey(asked("works", "boolean", None, in_files=True), name="exams"))
    with closing(published(tmp_path, survey_of)) as storage:
        send(storage, survey_of, [(int(place < 271),) for place in range(400)])
        storage.close_survey("exams", TODAY)
        SINGLE["codebook.html"](source(storage, survey_of), tmp_path / "codebook.html")

    assert ENGLISH.percent(271 / 400) == "67.7%"
    assert '<td dir="auto">67.7%</td>' in (tmp_path / "codebook.html").read_text(encoding="utf-8")
