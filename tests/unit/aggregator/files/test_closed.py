"""Files of reports exist for what is closed, and for try-outs."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sottovoce.aggregator.files.closed import check_closed
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Survey

from tests.surveys import months, survey

NOW = datetime(2026, 2, 15, tzinfo=UTC)
"""In the second of three months."""


def stored(asked: Survey, closed: bool = False) -> StoredSurvey:
    """As a database has it."""
    return StoredSurvey(1, asked.name, asked.revision, asked.digest, asked.canonical, closed, 100)


WAVES = stored(survey(waves=months(3)))


def test_closed_survey_closed_wave_and_try_out_pass() -> None:
    """A wave is closed by its window, and with the survey."""
    check_closed([stored(survey(), closed=True)], None, NOW)
    check_closed([WAVES], 0, NOW)
    check_closed([replace(WAVES, closed=True)], 2, NOW)
    check_closed([stored(survey(trial=True))], None, NOW)


@pytest.mark.parametrize(
    ("revisions", "wave", "said"),
    [
        ([stored(survey())], None, "the survey is open"),
        ([stored(survey(), closed=True), stored(survey(revision=2))], None, "the survey is open"),
        ([WAVES], None, "or name a closed wave"),
        ([WAVES], 1, "this wave is open"),
        ([WAVES], 2, "has not begun"),
        ([WAVES], 3, "no such wave"),
        ([stored(survey())], 0, "this wave is open"),
    ],
)
def test_what_more_reports_may_join_is_refused(revisions: list[StoredSurvey], wave: int | None, said: str) -> None:
    """Each refusal says why; an older revision's window counts as well."""
    with pytest.raises(EstimateError, match=said):
        check_closed(revisions, wave, NOW)


def test_wave_that_an_older_revision_still_takes_is_refused() -> None:
    """Old links go on working: its later end holds."""
    later = months(3)
    later[0]["closes"] = later[1]["opens"] = "2026-02-20T00:00:00Z"
    with pytest.raises(EstimateError, match="this wave is open"):
        check_closed([stored(survey(waves=later)), stored(survey(waves=months(3), revision=2))], 0, NOW)
