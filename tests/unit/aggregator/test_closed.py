"""When joint results exist."""

from datetime import UTC, datetime

import pytest
from sottovoce.aggregator.closed import check_closed
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.shared.errors import EstimateError

from tests.surveys import months, survey

MARCH = datetime(2026, 3, 15, tzinfo=UTC)
"""Within the third of the months."""


@pytest.fixture
def storage(tmp_path):
    """An empty database."""
    database = SQLiteStorage(tmp_path / "db.sqlite")
    yield database
    database.close()


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
            check_closed(stored, wave, MARCH)


def test_closed_wave_and_closed_survey_have(storage):
    """A wave from its end on, all once the survey was closed."""
    stored = revisions(storage, survey(waves=months(4)))
    check_closed(stored, 0, MARCH)
    check_closed(stored, 1, datetime(2026, 3, 1, tzinfo=UTC))

    storage.close_survey("exam", 20_600)

    for wave in (None, 0, 3):
        check_closed(storage.revisions("exam"), wave, MARCH)


def test_wave_is_closed_once_it_is_in_every_revision(storage):
    """A correction may move its end, and the earlier revision goes on answering."""
    first = survey(waves=months(2))
    later = [months(1)[0], {**months(2)[1], "closes": "2026-05-01T00:00:00Z"}]
    stored = revisions(storage, first, survey(waves=later, revision=2, replaces=first.digest))

    with pytest.raises(EstimateError, match="the survey is open"):
        check_closed(stored, 1, datetime(2026, 4, 15, tzinfo=UTC))
    check_closed(stored, 1, datetime(2026, 5, 1, tzinfo=UTC))


def test_reopened_survey_has_none(storage):
    """Reports come again."""
    revisions(storage, survey())
    storage.close_survey("exam", 20_600)
    storage.reopen_survey("exam")

    with pytest.raises(EstimateError, match="the survey is open"):
        check_closed(storage.revisions("exam"), None, MARCH)


def test_try_out_shows_everything_at_once(storage):
    """It is not the real survey, as everybody is told."""
    check_closed(revisions(storage, survey(trial=True)), None, MARCH)


def test_unknown_survey_and_wave_are_told(storage):
    """Each by its own sentence."""
    with pytest.raises(EstimateError, match="no survey of this name"):
        check_closed([], None, MARCH)
    for wave in (1, -1):
        with pytest.raises(EstimateError, match="no such wave"):
            check_closed(revisions(storage, survey()), wave, MARCH)
