"""When joint results exist, and which small groups and cells they leave out."""

import os
from datetime import UTC, datetime

import numpy as np
import pytest
from sottovoce.aggregator.analysis.availability import check_closed, few_among, hidden
from sottovoce.aggregator.storage.models import ReportBatch, StoragePlan
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.shared.errors import EstimateError

from tests.exported import drawn, send
from tests.surveys import months, survey

MARCH = datetime(2026, 3, 15, tzinfo=UTC)
"""Within the third of the months."""


@pytest.mark.parametrize("seed", range(40))
def test_nothing_hidden_follows_from_the_margins(seed):
    """In each row and column nothing is hidden, or two cells with five respondents together, or all."""
    counts = np.array([(seed * 7919 + place * 104729) % (5 + 3 * seed) // 2 for place in range(20)]).reshape(4, 5)

    hide = hidden(counts)

    assert hide[(counts > 0) & (counts < 5)].all()
    for cells, line in [*zip(hide, counts, strict=True), *zip(hide.T, counts.T, strict=True)]:
        assert not cells.any() or cells.all() or (cells.sum() > 1 and line[cells].sum() >= 5)


def test_table_without_small_cells_is_shown_whole():
    """Empty cells are nobody's."""
    assert not hidden(np.array([[0, 5], [7, 100]])).any()


def test_group_of_rare_answers_has_a_name_that_no_answer_has():
    """A survey may have an answer of the same name."""
    assert few_among(("none", "many")) == "few"
    assert few_among(("none", "few", "_few")) == "__few"


def revisions(storage, *surveys):
    """These surveys as they are stored."""
    for each in surveys:
        storage.publish(each)
    return storage.revisions("exam")


def test_open_survey_has_no_joint_results(storage):
    """Nor has an open wave, nor all of them while one is open."""
    stored = revisions(storage, survey(waves=months(4)))

    for wave in (None, 2, 3):
        with pytest.raises(EstimateError, match="the survey is open"):
            check_closed(storage, stored, wave, MARCH)


def test_closed_wave_and_closed_survey_have(storage):
    """A wave from its end on, all once the survey was closed."""
    stored = revisions(storage, survey(waves=months(4)))
    check_closed(storage, stored, 0, MARCH)
    check_closed(storage, stored, 1, datetime(2026, 3, 1, tzinfo=UTC))

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
    check_closed(storage, stored, 1, datetime(2026, 5, 1, tzinfo=UTC))


def test_reopened_survey_has_none(storage):
    """Reports come again."""
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


@pytest.mark.parametrize(("arriving", "withdrawn"), [(1, 0), (24, 0), (1, 2), (26, 4)])
def test_survey_that_was_closed_again_has_none_if_a_few_people_are_the_difference(storage, arriving, withdrawn):
    """Also where as many came as went."""
    made = survey()
    revisions(storage, made)
    send(storage, made, drawn(made, 200))
    storage.close_survey("exam", 20_600)
    check_closed(storage, storage.revisions("exam"), None, MARCH)

    closed_again(storage, made, arriving, withdrawn)

    with pytest.raises(EstimateError, match="fewer than 25 reports came, or some were withdrawn"):
        check_closed(storage, storage.revisions("exam"), None, MARCH)


@pytest.mark.parametrize("arriving", [0, 25, 60])
def test_survey_that_was_closed_again_has_them_if_many_or_none_came(storage, arriving):
    """Nothing to subtract, or enough people."""
    made = survey()
    revisions(storage, made)
    send(storage, made, drawn(made, 200))
    storage.close_survey("exam", 20_600)

    closed_again(storage, made, arriving)

    check_closed(storage, storage.revisions("exam"), None, MARCH)


def test_third_close_follows_the_same_rule(storage):
    """What the second one showed is what it is compared with."""
    made = survey()
    revisions(storage, made)
    send(storage, made, drawn(made, 200))
    storage.close_survey("exam", 20_600)
    closed_again(storage, made, 0)
    check_closed(storage, storage.revisions("exam"), None, MARCH)

    closed_again(storage, made, 60)
    check_closed(storage, storage.revisions("exam"), None, MARCH)
    closed_again(storage, made, 1)

    with pytest.raises(EstimateError, match="since then fewer than 25 reports came"):
        check_closed(storage, storage.revisions("exam"), None, MARCH)


def test_try_out_shows_everything_at_once(storage):
    """It is not the real survey, as everybody is told."""
    check_closed(storage, revisions(storage, survey(trial=True)), None, MARCH)


def test_unknown_survey_and_wave_are_told(storage):
    """Each by its own sentence."""
    with pytest.raises(EstimateError, match="no survey of this name"):
        check_closed(storage, [], None, MARCH)
    for wave in (1, -1):
        with pytest.raises(EstimateError, match="no such wave"):
            check_closed(storage, revisions(storage, survey()), wave, MARCH)
