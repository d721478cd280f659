"""Reports leave without ids, in an order that tells nothing, and public answers only where they are asked for."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.shown_columns import (
    ReportColumns,
    as_columns,
    random_order,
    read_reports,
    without_rare_answers,
)
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.storage.pack_values import few, null
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import EstimateError

from tests.documents import some_of
from tests.exported import TODAY, answered, send, source
from tests.surveys import document, months, survey
from tests.unit.aggregator.conftest import REPORTS

FEW = few(1)


def test_reports_are_those_stored_in_an_order_drawn_anew(closed: SQLiteStorage, every: Source) -> None:
    names = [question.name for question in every.about.survey.questions]
    kept = list(closed.rows(1))
    twice = [read_reports(closed, every.revisions, public=True) for _ in range(2)]
    found = [list(zip(*[each.columns[name].tolist() for name in names], strict=True)) for each in twice]

    assert len(kept) == REPORTS
    assert Counter(found[0]) == Counter(found[1]) == Counter(kept)
    assert len({tuple(found[0]), tuple(found[1]), tuple(kept)}) == 3


def test_random_order_follows_from_the_bytes_it_is_given() -> None:
    """Every row once; each order is as likely as the keys that make it."""
    keys = np.array([5, 1, 9, 3], dtype=np.uint64).tobytes()

    assert random_order(4, lambda _: keys).tolist() == [1, 3, 0, 2]
    assert sorted(random_order(1000).tolist()) == list(range(1000))


def test_public_answers_stay_behind_but_for_the_cohort(every: Source) -> None:
    assert {"age", "height"} & set(every.reports.columns) == set()
    assert "content" in every.reports.columns
    assert {"age", "height", "content"} <= set(every.reports_with_public.columns)


@pytest.mark.parametrize(
    ("sizes", "left"),
    [
        ((30, 30), {0: 30, 1: 30}),
        ((30, 4), {FEW: 34}),
        ((30, 20, 3), {0: 30, FEW: 23}),
        ((30, 20, 3, 2), {0: 30, 1: 20, FEW: 5}),
    ],
)
def test_cohort_that_would_be_a_handful_is_not_named(
    storage: SQLiteStorage, sizes: tuple[int, ...], left: dict[int, int]
) -> None:
    """Less the others, the rest would be a handful as well: they are left out together, and no cell is empty."""
    questions = document()["questions"]
    questions[2]["choices"] = [{"name": f"c{i}", "label": {"en": f"C{i}"}} for i in range(len(sizes))]
    asked = survey(questions=questions)
    answered(storage, asked, [(0, 1, cohort) for cohort, size in enumerate(sizes) for _ in range(size)])

    assert Counter(source(storage, asked).reports.columns["year"].tolist()) == left


def test_cohort_of_a_handful_that_results_do_not_show_yet_is_not_named(storage: SQLiteStorage) -> None:
    """Of a closed wave of an open survey, where results show nobody of it; a later wave changes no earlier file."""
    asked = survey(waves=months(2))
    storage.publish(asked)
    send(storage, asked, [(0, 1, cohort) for cohort in (0, 1) for _ in range(25)])
    send(storage, asked, [(0, 1, 0)] * 25 + [(0, 1, 1)] * 2, wave=1)
    early, second = (source(storage, asked, wave=wave).reports.columns["year"].tolist() for wave in (0, 1))
    storage.close_survey("exam", TODAY)
    late = source(storage, asked, wave=0).reports.columns["year"].tolist()

    assert Counter(early) == Counter(late) == {0: 25, 1: 25}
    assert Counter(second) == {FEW: 27}


def test_wave_that_is_asked_for_comes_alone(storage: SQLiteStorage) -> None:
    asked = survey(waves=months(2))
    storage.publish(asked)
    send(storage, asked, [(0, 1, 0)] * 7, wave=0)
    send(storage, asked, [(1, 2, 1)] * 9, wave=1)
    alone = source(storage, asked, wave=1).reports

    assert (set(alone.wave.tolist()), set(alone.columns["reason"].tolist()), len(alone)) == ({1}, {2}, 9)


def test_report_of_an_earlier_revision_has_what_it_was_asked(storage: SQLiteStorage) -> None:
    """A new question is empty there; one with other options is another question."""
    first, questions = survey(), document()["questions"]
    questions[1]["choices"] = questions[1]["choices"][:2]
    many = [{"name": f"o{number}", "label": {"en": "O"}} for number in range(300)]
    questions.insert(0, {**questions[1], "name": "wide", "choices": many})
    storage.publish(first)
    send(storage, first, [(1, 2, 0)] * 6)
    answered(storage, survey(questions=questions, revision=2, replaces=first.digest), [(299, 0, 1, 1)] * 7)
    found = read_reports(storage, revisions_of(storage, "exam"), public=True)

    rows = Counter(zip(found.revision.tolist(), *[c.tolist() for c in found.columns.values()], strict=True))
    assert list(found.columns) == ["wide", "cheated", "reason", "year"]
    assert rows == {(1, 2**16 - 1, 1, 255, 0): 6, (2, 299, 0, 1, 1): 7}


def test_survey_without_reports_has_no_file_of_them(storage: SQLiteStorage) -> None:
    """A file without rows would be taken for a result."""
    answered(storage, survey(), [])
    with pytest.raises(EstimateError, match="no reports yet"):
        _ = source(storage, survey()).reports


BACKGROUND = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "min": "0", "max": "20", "public": True}


def test_public_question_is_in_the_files_by_consent_in_groups_of_five(storage: SQLiteStorage) -> None:
    """Rare answers are left out, and with them the rarest others until as many as five agree."""
    coin, _, year = document()["questions"]
    ages = [3] * 30 + [4] * 7 + [5] * 2 + [6]
    rows = [(0, 0, age) for age in ages] + [(1, 1, 9)] * 40
    answered(storage, survey(questions=[coin, year, {**BACKGROUND, "in_files": True}]), rows)
    columns = read_reports(storage, revisions_of(storage, "exam")).columns
    without = read_reports(storage, [replace(revisions_of(storage, "exam")[-1], released=True)]).columns

    assert Counter(zip(columns["year"].tolist(), columns["age"].tolist(), strict=True)) == {
        (0, 3): 30, (0, FEW): 10, (1, 9): 40,
    }  # fmt: skip
    assert set(without) == {"cheated", "year"}


@pytest.mark.parametrize("sent", [{"mechanism": {"name": "coin_flip"}}, {"public": True, "in_files": True}])
def test_groups_have_five_of_each_arm_that_empty_cells_tell(storage: SQLiteStorage, sent: dict[str, Any]) -> None:
    """The arm is no rare answer of an age, which whether its own question is empty would tell."""
    coin = {"type": "boolean", "name": "cheated", "label": {"en": "Cheated?"}, "arm": "treated", **sent}
    arms = [{"name": "control"}, {"name": "treated"}]
    rows = [(3, None, 0)] * 30 + [(3, 0, 1)] * 3 + [(4, 1, 1)] * 20
    answered(storage, survey(arms=arms, questions=[{**BACKGROUND, "in_files": True}, coin]), rows)
    columns = read_reports(storage, revisions_of(storage, "exam")).columns

    assert Counter(zip(columns["arm"].tolist(), columns["age"].tolist(), strict=True)) == {
        (0, 3): 30, (1, FEW): 23,
    }  # fmt: skip


def test_arms_that_an_earlier_release_left_out_within_ages_are_unknown() -> None:
    """Both arms are in the file, so that some of each may be among what it leaves out."""
    coin = {**document()["questions"][0], "arm": "treated"}
    asked = survey(arms=[{"name": "control"}, {"name": "treated"}], questions=[coin, {**BACKGROUND, "in_files": True}])
    columns = {"cheated": [255] * 30 + [0] * 23, "age": [3] * 30 + [4] * 23, "arm": [0] * 30 + [1] * 20 + [FEW] * 3}
    arrays = {name: np.array(values, np.uint8) for name, values in columns.items()}
    read = as_columns(ReportColumns(arrays, np.zeros(53, np.uint16), np.ones(53, np.uint32)), {1: asked})

    assert read.few["arm"].all()


def test_files_before_and_after_a_correction_leave_out_the_same(storage: SQLiteStorage) -> None:
    """Reports alone in their randomized answers are in both, which together would tell what each leaves out."""
    coin, reason, _ = document()["questions"]
    coins = [{**coin, "name": f"coin{number}"} for number in range(12)]
    shown = [{**reason, "name": name, "mechanism": None, "public": True, "in_files": True} for name in ("a", "b")]
    public = [{key: value for key, value in each.items() if value is not None} for each in shown]
    draws = np.random.default_rng(3)
    rows = np.hstack([draws.integers(0, 3, (40, 2)), draws.integers(0, 2, (40, 12))]).tolist()
    first = survey(questions=[*public, *coins])
    answered(storage, first, rows)
    before = read_reports(storage, revisions_of(storage, "exam"))
    more = {**coin, "name": "more", "visible_if": {"b": [reason["choices"][0]["name"]]}, "when_absent": "no"}
    second = survey(questions=[public[1], public[0], *coins, more], revision=2, replaces=first.digest)
    answered(storage, second, [(b, a, *others, 0) for a, b, *others in rows])
    after = read_reports(storage, revisions_of(storage, "exam"))
    third = survey(questions=[public[1], *coins], revision=3, replaces=second.digest)
    answered(storage, third, [(b, *others) for _, b, *others in rows])
    without = read_reports(storage, revisions_of(storage, "exam"))

    names = list(before.columns)
    same = [Counter(zip(*[found.columns[name][found.revision == 1].tolist() for name in names], strict=True))
            for found in (before, after)]  # fmt: skip
    assert FEW in before.columns["b"]
    assert same[0] == same[1]
    assert [set(without.columns["b"][without.revision == number].tolist()) for number in (1, 2, 3)] == [
        {FEW}, {0, 1, 2}, {0, 1, 2}
    ]  # fmt: skip
    # The second asked b first, and so left out none of it within answers to a.
    left = ("b", *names[2:])
    same = [Counter(zip(*[found.columns[name][found.revision == 2].tolist() for name in left], strict=True))
            for found in (after, without)]  # fmt: skip
    assert same[0] == same[1]


def test_arm_that_a_correction_adds_is_in_its_files(storage: SQLiteStorage) -> None:
    """Before ages, of which each has six people, two without the treatment: no earlier file has its reports."""
    coin, rows = document()["questions"][0], [(place % 10, place % 2) for place in range(60)]
    age, treated = {**BACKGROUND, "in_files": True}, {**coin, "name": "treated", "arm": "treated"}
    first = survey(questions=[age, coin])
    answered(storage, first, [*rows, (11, 0), (12, 1)])
    before = read_reports(storage, revisions_of(storage, "exam"))
    arms = [{"name": "control"}, {"name": "treated"}]
    second = survey(questions=[age, coin, treated], arms=arms, revision=2, replaces=first.digest)
    answered(storage, second, [(*row, 1, 1) if place > 19 else (*row, None, 0) for place, row in enumerate(rows)])
    after = read_reports(storage, revisions_of(storage, "exam"))

    same = [Counter(zip(*[found.columns[name][found.revision == 1].tolist() for name in before.columns], strict=True))
            for found in (before, after)]  # fmt: skip
    assert same[0] == same[1]
    assert FEW in before.columns["age"]
    assert Counter(after.columns["arm"][after.revision == 2].tolist()) == {0: 20, 1: 40}


def test_groups_that_agree_in_all_public_answers_have_five() -> None:
    """Whatever the answers are; one wave has fewer."""
    draws = np.random.default_rng(7)
    size = 4000
    columns = {name: draws.integers(0, most, size).astype(np.uint8) for name, most in (("a", 9), ("b", 40), ("c", 3))}
    wave = np.concatenate([np.zeros(size - 3), np.ones(3)]).astype(np.uint16)
    found = without_rare_answers(ReportColumns(columns, wave, np.ones(size, np.uint32)), [], ["a", "b", "c"])

    groups = Counter(zip(found.wave.tolist(), *(values.tolist() for values in found.columns.values()), strict=True))
    assert {count for key, count in groups.items() if count < 5} == {3}
    assert groups[1, FEW, FEW, FEW] == 3
    assert len(groups) > 300


def test_answers_that_are_left_out_are_five_without_those_who_were_not_asked() -> None:
    """Else the three of them, less whoever was not asked, would be alone."""
    column = np.repeat(np.array([0, 1, 2, null(1)], np.uint8), [129, 20, 3, 40])
    same = np.zeros(len(column), np.uint16)
    found = without_rare_answers(ReportColumns({"a": column}, same, same.astype(np.uint32)), [], ["a"])

    assert Counter(found.columns["a"].tolist()) == {0: 129, FEW: 23, null(1): 40}


def test_public_question_that_a_public_answer_hides_is_missing(storage: SQLiteStorage) -> None:
    """So that its share in a file is that of the page; what is published under a budget has the fixed answer."""
    shown = {"type": "boolean", "label": {"en": "?"}, "public": True, "in_files": True}
    likes = {**shown, "name": "likes", "visible_if": {"works": ["yes"]}, "when_absent": "no"}
    asked = survey(questions=[document()["questions"][0], {**shown, "name": "works"}, likes])
    answered(storage, asked, [(0, 1, 1)] * 20 + [(0, 1, 0)] * 10 + [(0, 0, 0)] * 40)
    found = source(storage, asked)
    with_hidden = read_reports(storage, found.revisions, public=True, with_hidden=True)
    columns = [found.reports.columns, found.reports_with_public.columns, with_hidden.columns]
    (page,) = [each.n for each in analyse(found.revisions).questions[2].of_kind("share") if each.option == "yes"]

    assert [Counter(each["likes"].tolist()) for each in columns[:2]] == [{1: 20, 0: 10, null(1): 40}] * 2
    assert Counter(columns[2]["likes"].tolist()) == {1: 20, 0: 50}
    assert page == 30


def test_question_that_was_not_asked_is_missing_whatever_the_other_answers_are(storage: SQLiteStorage) -> None:
    """Also where the report is stored in fewer bytes than the question's largest value takes."""
    many = some_of(9, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"})
    asked = survey(ask=1, questions=[{**many, "name": "which"}, document()["questions"][0]])
    answered(storage, asked, [(None, 1), (300, None)])
    found = source(storage, asked).reports.columns["which"]

    assert sorted(found.tolist()) == [300, null(found.itemsize)]
