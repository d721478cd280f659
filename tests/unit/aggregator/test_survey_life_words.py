"""What whoever corrects a survey is told of the links that people have."""

from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.lifecycle import correction_words, signed_before

from tests.invited import blind_survey
from tests.surveys import survey


def test_correction_with_more_waves_tells_what_redeemed_invitations_are_good_for(storage: SQLiteStorage) -> None:
    """Only where ids were signed, wave by wave; else links are good for any."""
    storage.publish(blind_survey(1, retention={"ids_days": 5}))
    earlier, more = storage.revisions("exam"), blind_survey(2, revision=2)
    storage.publish(survey(name="open", access="token"))

    assert "signatures for 1 of the 2 waves, and need another invitation" in correction_words(earlier, more)
    assert "Invitations stay good, redeemed or not" in correction_words(earlier, blind_survey(1, revision=2))
    assert signed_before(earlier, blind_survey(1, revision=2)) == 0
    assert signed_before([], more) == 0
    told = correction_words(storage.revisions("open"), survey(name="open", access="token", revision=2))
    assert "Personal links that were not used yet stay good" in told
    assert "Invitations" not in told
