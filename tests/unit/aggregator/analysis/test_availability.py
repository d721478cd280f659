"""When results exist, which small groups they leave out, and one n and one figure on all pages and in all files."""

import csv
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.availability import STORED_WITHIN, check_closed, few_among, hidden
from sottovoce.aggregator.analysis.estimates import QuestionResult, analyse
from sottovoce.aggregator.analysis.published_counts import count_arms, forget_counts, revisions_of
from sottovoce.aggregator.analysis.report_columns import Columns, read_columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.catalogue import COLUMNS, SINGLE, result_rows
from sottovoce.aggregator.export.read_archive import read_folder, results_of_archive
from sottovoce.aggregator.export.results_client.sources import FolderReports, StoredReports
from sottovoce.aggregator.export.scripts import analysis
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.models import ReportBatch, StoragePlan
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import names, survey as document_of
from tests.exported import TODAY, answered, drawn, send, source
from tests.surveys import months, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.analysis.survey_of_reports import COIN, asked
from tests.unit.aggregator.studio.joint_pages import SITE, get
from tests.vectors.arms import arms, asks

MARCH = datetime(2026, 3, 15, tzinfo=UTC)

"""Within the third of the months."""

SHOWN = {"visible_if": {"region": ["c0", "c1"]}}

FILES = ("reports.csv", "survey.json", "channels.csv", "scores.csv", "estimates.csv", "codebook.html")

Row = tuple[int | None, ...]


def rows(regions: tuple[int, ...]) -> list[Row]:
    """So many reports of each region, of which the last was never asked: of yes, no and no answer in turn."""
    counted = [(place, number) for place, people in enumerate(regions) for number in range(people)]
    return [(place, number * 7 % 3 if place < 2 else 2, int(place < 2 and number % 4 > 0)) for place, number in counted]


def hidden_survey(*keys: str, **more: Any) -> Survey:
    """A region with these keys decides who is asked two questions; others send no answer to one, and no to another."""
    region = asked("region", "select_one", None, choices=names(3), **dict.fromkeys(keys or ("in_files",), True))
    questions = [
        asked("secret", "boolean", {"name": "kary_rr", "odds": "9"}, absent_category=True, **SHOWN),
        asked("coded", "boolean", COIN, when_absent="no", **SHOWN),
    ]
    return parse_survey(document_of(region, *questions, name="hidden", **more))


@pytest.fixture
def closed(storage: Storage) -> Storage:
    answered(storage, hidden_survey(), rows((90, 60, 50)))
    return storage


def results(storage: Storage, **options: Any) -> dict[str, QuestionResult]:
    return {each.question.name: each for each in analyse(revisions_of(storage, "hidden"), **options).questions}


@pytest.mark.parametrize("seed", range(40))
def test_nothing_hidden_follows_from_the_margins(seed):
    """In each row and column nothing is hidden, or two cells with five respondents together, or all."""
    counts = np.array([(seed * 7919 + place * 104729) % (5 + 3 * seed) // 2 for place in range(20)]).reshape(4, 5)

    hide = hidden(counts)

    assert hide[(counts > 0) & (counts < 5)].all()
    for cells, line in [*zip(hide, counts, strict=True), *zip(hide.T, counts.T, strict=True)]:
        assert not cells.any() or cells.all() or (cells.sum() > 1 and line[cells].sum() >= 5)


def test_small_cell_between_two_blocks_of_suppressed_ones_does_not_follow_from_all_margins() -> None:
    """Rows less columns would tell it."""
    counts = np.full((4, 4), 20)
    counts[:2, :2] = counts[2:, 2:] = 3
    counts[1, 2] = 2

    places = np.argwhere(hidden(counts))

    margins = np.array([[*(row == place for place in range(4)), *(column == place for place in range(4))]
                        for row, column in places], float).T  # fmt: skip
    bridge = (places == (1, 2)).all(axis=1)
    assert np.linalg.matrix_rank(np.vstack([margins, bridge])) > np.linalg.matrix_rank(margins)


@pytest.mark.parametrize("seed", range(12))
def test_table_suppresses_the_same_cells_whichever_answer_is_in_the_rows(seed: int) -> None:
    """One less the other would tell them."""
    sizes = {"faculty": 4, "year": 3}
    made = parse_survey(
        document_of(*(asks(name, kind="select_one", public=True, choices=names(size)) for name, size in sizes.items()))
    )
    draw = np.random.default_rng(seed)
    people = {name: draw.choice(size, 80, p=draw.dirichlet(np.full(size, 0.8))) for name, size in sizes.items()}
    columns = Columns.from_arrays(made, people)

    table, turned = (
        parse_request("crosstab", {"rows": rows, "columns": across}).document(columns)["table"]
        for rows, across in (("year", "faculty"), ("faculty", "year"))
    )

    assert [[*row] for row in zip(*turned, strict=True)] == table


def test_table_without_small_cells_is_shown_whole():
    """Empty cells are nobody's."""
    assert not hidden(np.array([[0, 5], [7, 100]])).any()


def test_group_of_rare_answers_has_a_name_that_no_answer_has():
    assert few_among(("none", "many")) == "few"
    assert few_among(("none", "few", "_few")) == "__few"


def revisions(storage, *surveys):
    for each in surveys:
        storage.publish(each)
    return storage.revisions("exam")


def test_open_survey_has_no_joint_results(storage):
    stored = revisions(storage, survey(waves=months(4)))

    for wave in (None, 2, 3):
        with pytest.raises(EstimateError, match="the survey is open"):
            check_closed(storage, stored, wave, MARCH)


def test_closed_wave_and_closed_survey_have(storage):
    stored = revisions(storage, survey(waves=months(4)))
    check_closed(storage, stored, 0, MARCH)
    ended = datetime(2026, 3, 1, tzinfo=UTC)
    check_closed(storage, stored, 1, ended + STORED_WITHIN)
    # Reports of its last moment may wait to be stored.
    with pytest.raises(EstimateError, match="the survey is open"):
        check_closed(storage, stored, 1, ended + STORED_WITHIN - timedelta(seconds=1))

    storage.close_survey("exam", 20_600)

    for wave in (None, 0, 3):
        check_closed(storage, storage.revisions("exam"), wave, MARCH)


def test_wave_is_closed_once_it_is_in_every_revision(storage):
    """A correction may move its end, and the earlier revision goes on answering."""
    first = survey(waves=months(2))
    later = [months(1)[0], {**months(2)[1], "closes": "2026-05-01T00:00:00Z"}]
    stored = revisions(storage, first, survey(waves=later, revision=2, replaces=first.digest))

    with pytest.raises(EstimateError, match="the survey is open"):
        check_closed(storage, stored, 1, datetime(2026, 4, 15, tzinfo=UTC))
    check_closed(storage, stored, 1, datetime(2026, 5, 1, tzinfo=UTC) + STORED_WITHIN)


def test_survey_of_one_wave_has_to_be_closed(storage):
    """That notes what is shown: a correction that opens it again then shows nothing of a few people."""
    stored = revisions(storage, survey(closes="2026-03-01T00:00:00Z"))

    for wave in (None, 0):
        with pytest.raises(EstimateError, match="the survey is open"):
            check_closed(storage, stored, wave, MARCH)


def test_reopened_survey_has_none(storage):
    revisions(storage, survey())
    storage.close_survey("exam", 20_600)
    storage.reopen_survey("exam")

    with pytest.raises(EstimateError, match="the survey is open"):
        check_closed(storage, storage.revisions("exam"), None, MARCH)


def closed_again(storage, asked, arriving, withdrawn=0):
    """The survey opened once more, with so many more reports of each year and so many taken back, and closed."""
    storage.reopen_survey("exam")
    (stored,) = storage.revisions("exam")
    plan = StoragePlan(stored.key, asked.cohort, asked.release_batch, None, asked.masks)
    ids = [os.urandom(16) for _ in range(2 * arriving)]
    storage.store([ReportBatch(plan, 0, each, pack((place // 2 % 2, 0, place % 2))) for place, each in enumerate(ids)])
    for each in ids[:withdrawn]:
        storage.withdraw(plan, each)
    storage.close_survey("exam", 20_601)


@pytest.mark.parametrize(
    ("closes", "has_results"),
    [
        # A few people are the difference, also where as many came as went.
        ([(1, 0)], False),
        ([(24, 0)], False),
        ([(1, 2)], False),
        ([(26, 4)], False),
        # Nothing to subtract, or enough people.
        ([(0, 0)], True),
        ([(25, 0)], True),
        ([(60, 0)], True),
        # What the close before showed is what a third and fourth one are compared with.
        ([(0, 0), (60, 0)], True),
        ([(0, 0), (60, 0), (1, 0)], False),
    ],
)
def test_survey_that_was_closed_again_has_results_unless_a_few_people_are_the_difference(
    storage: Storage, closes: list[tuple[int, int]], has_results: bool
) -> None:
    """Of so many who came and were withdrawn before each close."""
    made = survey()
    answered(storage, made, drawn(made, 200))
    check_closed(storage, storage.revisions("exam"), None, MARCH)

    for arriving, withdrawn in closes:
        closed_again(storage, made, arriving, withdrawn)

    if has_results:
        check_closed(storage, storage.revisions("exam"), None, MARCH)
    else:
        with pytest.raises(EstimateError, match="since then fewer than 25 reports came, or some were withdrawn"):
            check_closed(storage, storage.revisions("exam"), None, MARCH)


def test_try_out_shows_everything_at_once(storage):
    """It is not the real survey, as everybody is told."""
    check_closed(storage, revisions(storage, survey(trial=True)), None, MARCH)


def test_unknown_survey_and_wave_are_told(storage):
    with pytest.raises(EstimateError, match="no survey of this name"):
        check_closed(storage, [], None, MARCH)
    for wave in (1, -1):
        with pytest.raises(EstimateError, match="no such wave"):
            check_closed(storage, revisions(storage, survey()), wave, MARCH)


def test_people_never_asked_are_left_out_of_results_once_the_survey_is_closed(storage: Storage) -> None:
    """Before, results say that they count as no answer, or as the fixed one; then n is that of tables and tests."""
    storage.publish(hidden_survey())
    send(storage, hidden_survey(), rows((90, 60, 50)))
    still_open = analyse(revisions_of(storage, "hidden"))
    storage.close_survey("hidden", TODAY)
    found, whole = results(storage), analyse(revisions_of(storage, "hidden"))

    before = {each.question.name: each for each in still_open.questions}
    assert [(before[name].n, before[name].asked_only) for name in ("secret", "coded")] == [(200, False)] * 2
    assert [(found[name].n, found[name].asked_only) for name in ("secret", "coded")] == [(150, True)] * 2
    assert found["region"].n == 200
    told = results_in_words(still_open)
    assert any(line.startswith("secret: Among") and "Not asked or no answer: " in line for line in told)
    assert any(line.startswith("coded: ") and "were not asked count the same way" in line for line in told)
    assert not any("not asked" in line for line in results_in_words(whole))
    assert any(line.startswith("coded: Among those who were asked.") for line in results_in_words(whole))
    for name in ("secret", "coded"):
        test = StoredReports(storage, "hidden", now).answer("test", {"question": name})
        shares = found[name].answered or found[name].estimates
        assert test["n"] == found[name].n
        assert [row["shown"] for row in test["values"]][-1] == pytest.approx(shares[-1].clipped)


def test_share_of_whom_a_public_and_a_randomized_answer_let_through_is_not_of_all(storage: Storage) -> None:
    """Its 150 people are neither all 200 nor only those who were asked; while open it is of all."""
    also = asked("both", "boolean", {"name": "kary_rr", "odds": "9"}, absent_category=True,
                 visible_if={**SHOWN["visible_if"], "coded": "yes"})  # fmt: skip
    both = parse_survey(document_of(*hidden_survey().document["questions"], also, name="hidden"))
    storage.publish(both)
    send(storage, both, [(*row, row[1]) for row in rows((90, 60, 50))])
    told = {}
    for is_closed in (False, True):
        if is_closed:
            storage.close_survey("hidden", TODAY)
        found = analyse(revisions_of(storage, "hidden"))
        lines = [dict(zip(COLUMNS, row, strict=True)) for row in result_rows(found, About.of(both))]
        document = export_document(found)["questions"][3]
        of_whom = {(row["among"], row["n"]) for row in lines if row["question"] == "both"}
        told[is_closed] = of_whom, document["asked_only"], document.get("asked_in_part")

    assert told[False] == ({("all", 200), ("asked_and_answered", 200)}, False, None)
    assert told[True] == ({("perhaps_asked", 150), ("asked_and_answered", 150)}, False, True)


def test_files_and_the_script_beside_them_give_the_share_and_n_of_the_page(closed: Storage, tmp_path: Path) -> None:
    """Cells of people who were never asked are empty, so that any program leaves them out."""
    found, page = source(closed, hidden_survey()), results(closed)
    for name in FILES:
        SINGLE[name](found, tmp_path / name)
    printed = {(line[1], line[2], line[9]): line[4:6] for line in analysis.lines(tmp_path)}
    again = {each.question.name: each for each in results_of_archive(read_folder(tmp_path)).questions}
    with (tmp_path / "estimates.csv").open(encoding="utf-8-sig") as file:
        among = {(row["question"], row["among"], row["n"]) for row in csv.DictReader(file)}

    for name, key in (("secret", "answered"), ("coded", "all")):
        share = (page[name].answered or page[name].estimates)[-1]
        assert printed[name, "yes", key] == pytest.approx((150, share.raw))
        assert (again[name].n, again[name].asked_only, again[name].tally) == (150, True, page[name].tally)
    assert among == {("region", "all", "200"), ("secret", "asked", "150"), ("coded", "asked", "150"),
                     ("secret", "asked_and_answered", "150")}  # fmt: skip
    book = (tmp_path / "codebook.html").read_text(encoding="utf-8")
    assert "Estimated shares of coded. Interval of 95%, n = 150" in book
    one, other = (each.answer("test", {"question": "secret"}) for each in (
        FolderReports(tmp_path), StoredReports(closed, "hidden", now)))  # fmt: skip
    assert one == other


def test_files_do_not_tell_a_public_answer_that_they_lack(storage: Storage, tmp_path: Path) -> None:
    """Without the deciding column everybody has a cell, and results of the file say that people count as no answer."""
    answered(storage, hidden_survey("public"), rows((90, 60, 50)))
    for name in FILES:
        SINGLE[name](source(storage, hidden_survey("public")), tmp_path / name)
    again = {each.question.name: each for each in results_of_archive(read_folder(tmp_path)).questions}

    assert results(storage)["secret"].n == 150
    assert (again["secret"].n, again["secret"].asked_only) == (200, False)


@pytest.mark.parametrize(("regions", "left_out"), [((100, 60, 4), False), ((4, 0, 160), False), ((5, 0, 160), True)])
def test_fewer_than_five_people_are_not_told_apart(storage: Storage, regions: tuple[int, ...], left_out: bool) -> None:
    answered(storage, hidden_survey(), rows(regions))
    found = results(storage)["secret"]

    assert (found.n, found.asked_only) == (sum(regions[:2]) if left_out else sum(regions), left_out)
    assert export_document(analyse(revisions_of(storage, "hidden")))["questions"][1]["asked_only"] is left_out


def test_waves_tell_no_few_people_apart(storage: Storage) -> None:
    """A wave with four who were not asked leaves all waves whole."""
    several = hidden_survey("cohort", waves=months(2))
    storage.publish(several)
    send(storage, several, rows((40, 40, 40)), 0)
    answered(storage, several, rows((40, 40, 4)), 1)

    assert not results(storage)["secret"].asked_only


def test_cohorts_have_counts_of_their_own(storage: Storage) -> None:
    answered(storage, hidden_survey("cohort", revision=1), rows((40, 30, 20)))

    assert [results(storage, cohort=f"c{place}")["secret"].n for place in range(3)] == [40, 30, 0]
    assert sum(results(storage)["secret"].tally.values()) == 70


def test_cohorts_do_not_tell_public_answers_of_few_people(storage: Storage) -> None:
    """Nor does a cohort without them, or a wave, since the others would follow from those of all people."""
    choices = {"region": {"cohort": True}, "gender": {}, "year": {}}
    questions = (asked(name, "select_one", None, choices=names(3), **more) for name, more in choices.items())
    apart = parse_survey(document_of(*questions, asked("secret", "boolean", COIN), name="hidden", waves=months(2)))
    storage.publish(apart)
    people = [(place % 3, 2 if place in {1, 4, 9} else place % 2, place // 3 % 3, place % 2) for place in range(90)]
    send(storage, apart, people, 0)
    answered(storage, apart, [(region, year, year, said) for region, _, year, said in people], 1)

    assert results(storage)["gender"].n == 180
    for group, wave in [(group, wave) for group in ("c0", "c1", "c2") for wave in (None, 0, 1)]:
        assert [*results(storage, cohort=group, wave=wave)] == ["region", "year", "secret"]


@pytest.mark.parametrize(("few", "right"), [(10, [40, 40]), (3, [43, 50])])
def test_arms_count_those_who_were_asked(storage: Storage, few: int, right: list[int]) -> None:
    people = [(*row, 0) for row in rows((20, 20, few))] + [(*row, 1) for row in rows((20, 20, 10))]
    answered(storage, hidden_survey(arms=arms(1, 1)), people)
    found = count_arms(read_columns(storage, storage.revisions("hidden")))
    assert [sum(arm["cells"][0]["tallies"][1].values()) for arm in found["arms"]] == right


def test_page_says_among_whom_and_shows_everybody_on_request(closed: Storage) -> None:
    """In all its forms; the copy that programs get has the same figures."""
    browser = log_in(create_app(Settings(public_url=SITE), closed, now, {}))[0]
    page, whole = (get(browser, f"hidden/results{query}").text for query in ("", "?among=all"))
    document = get(browser, "hidden/results/export.json").json["questions"]

    assert "Among those who were asked." in page
    assert "Not asked or no answer" not in page
    assert "People who were not asked count the same way." in whole
    assert "Among all. Not asked or no answer: " in whole
    assert [(each["n"], each.get("asked_only")) for each in document] == [(200, None), (150, True), (150, True)]


def test_counts_of_deleted_surveys_are_forgotten(closed: Storage) -> None:
    before = revisions_of(closed, "hidden")

    assert revisions_of(closed, "hidden") is before
    forget_counts()
    assert revisions_of(closed, "hidden") is not before
