"""Invented reports are read by the functions that read real ones, and count as those would."""

from pathlib import Path

import numpy as np
import pytest
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.planning.simulated_survey import (
    SetShares,
    invent,
    invent_as_set,
    reports_of,
    true_figure,
    true_tallies,
)
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.aggregator.storage.pack_values import unpack
from sottovoce.shared.spec import Survey

from tests.exported import TODAY, published, send
from tests.surveys import every_type, survey

EVERY = survey(questions=every_type())
COHORTS = survey(ask=1)


@pytest.mark.parametrize("found", [EVERY, COHORTS], ids=["every type", "cohorts and ask"])
def test_results_are_those_of_a_database_with_the_same_reports(found: Survey, tmp_path: Path) -> None:
    """Every count and figure, of all people and of each cohort."""
    (truths,) = invent(found, 60, seed=5)
    invented = reports_of(found, truths, BatchDraws(seeded("as stored")))
    storage = published(tmp_path, found)
    send(storage, found, [unpack(packed) for chunk in invented.packed_by_wave(0) for _, packed in chunk])
    storage.close_survey(found.name, TODAY)
    real = revisions_of(storage, found.name)

    groups = [group.name for group in analyse(real).cohorts]
    assert len(groups) > 1
    for cohort in [None, *groups]:
        shown = [export_document(analyse(each, cohort)) for each in (real, [invented.revision])]
        assert shown[0] == shown[1]
    storage.close()


def test_device_that_is_not_asked_reports_nothing() -> None:
    """Of two private questions each person is asked one."""
    (truths,) = invent(COHORTS, 300, seed=6)
    columns = reports_of(COHORTS, truths, BatchDraws(seeded("ask"))).columns
    cheated, reason = columns.asked("cheated"), columns.asked("reason")

    assert (cheated ^ reason).all()
    assert 100 < cheated.sum() < 200
    assert columns.asked("year").all()


def test_invented_people_have_the_shares_and_means_that_were_set() -> None:
    """Of every type, within five standard errors; at the ends of the range exactly."""
    count = 20_000
    wanted = [
        SetShares(places=(0.3,) * len(question.options or "1"))
        if question.domain.grid
        else SetShares(tuple(np.full(question.domain.size, 1 / question.domain.size)))
        for question in EVERY.questions
    ]
    truths = invent_as_set(EVERY, count, 1, wanted)
    reported = analyse([reports_of(EVERY, truths, BatchDraws(seeded("set"))).revision])
    for result, truth, each in zip(reported.questions, truths, wanted, strict=True):
        question = result.question
        if question.kind.truth == "options" and question.domain.max_choices < question.domain.size:
            continue
        for estimate in result.estimates:
            figure = true_figure(question, true_tallies(question, truth), estimate)
            if estimate.kind == "mean":
                width = estimate.highest - estimate.lowest
                assert figure == pytest.approx(estimate.lowest + each.places[0] * width, abs=0.01 * width)
            elif estimate.kind == "share" and question.domain.grid is None:
                place = question.options.index(estimate.option)
                assert figure == pytest.approx(each.shares[place], abs=5 * (0.25 / count) ** 0.5)


def test_mean_at_the_end_of_the_range_leaves_nothing_else() -> None:
    """Nobody lies below the least number or above the largest."""
    asked = survey(questions=[question for question in every_type() if question["name"] == "days"])
    for place, step in ((0.0, 0), (1.0, asked.questions[0].domain.steps)):
        (truth,) = invent_as_set(asked, 50, 2, [SetShares(places=(place,))])
        assert set(truth.tolist()) == {step}
