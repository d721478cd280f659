"""Invitations on both back ends: redeemed once, whoever asks and however many at once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sottovoce.aggregator.clock import day_of, present
from sottovoce.aggregator.storage import Outcome, Storage
from sottovoce.aggregator.storage.copy import save
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts

from tests.invited import blind_survey

GOOD, OTHER, NONE = b"a" * 32, b"b" * 32, b"c" * 32


@pytest.fixture
def key(store: Storage) -> int:
    """Of a survey with two invitations."""
    first = store.publish(blind_survey()).key
    store.add_tokens(first, [GOOD, OTHER], blind=True)
    return first


def test_invitation_is_used_up_for_one_thing(store: Storage, key: int) -> None:
    assert store.has_token(key, GOOD)
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.NEW
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.SAME
    assert store.redeem_invitation(key, GOOD, b"y" * 32) is Outcome.CONFLICT
    assert store.redeem_invitation(key, NONE, b"x" * 32) is Outcome.TOKEN_INVALID
    assert not store.has_token(key, GOOD)
    assert store.revoke_tokens(key, [GOOD, OTHER]) == 1
    assert store.redeem_invitation(key, OTHER, b"x" * 32) is Outcome.TOKEN_INVALID
    assert store.token_counts(key) == (2, 1, 1, 0, 0, None)
    store.scrub()
    assert [bytes(row[1]) for row in store.export_table("blind_invitations")] == [GOOD]
    store.close_survey("exam", 1)
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.CLOSED
    store.purge(key)
    assert list(store.export_table("blind_invitations")) == []
    assert store.token_counts(key) == (2, 1, 1, 0, 0, None)


def test_what_a_restore_holds_is_good_only_when_somebody_has_said_so(store: Storage, key: int) -> None:
    """What was redeemed stays so; the rest waits, can be taken back, and is counted when it is let go."""
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.NEW
    store.hold_invitations()
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.SAME
    assert store.redeem_invitation(key, OTHER, b"y" * 32) is Outcome.UNKNOWN
    assert not store.has_token(key, OTHER)
    today = day_of(present(store))
    assert store.token_counts(key) in {(2, 1, 0, 0, 1, day) for day in (today - 1, today)}
    assert store.held_invitations()["exam"].number == 1
    assert wrong_counts(store) == []
    assert store.reissue_invitations(key) == 1
    assert store.reissue_invitations(key) == 0
    assert store.held_invitations() == {}
    assert store.token_counts(key) == (2, 1, 0, 1, 0, None)
    assert store.redeem_invitation(key, OTHER, b"y" * 32) is Outcome.NEW
    assert store.token_counts(key) == (2, 2, 0, 0, 0, None)
    store.add_tokens(key, [NONE], blind=True)
    store.hold_invitations()
    assert store.revoke_tokens(key, [NONE]) == 1
    assert store.token_counts(key) == (3, 2, 1, 0, 0, None)
    assert store.held_invitations() == {}
    assert wrong_counts(store) == []


def test_held_is_neither_spent_nor_good_also_in_a_copy_and_after_a_purge(
    store: Storage, key: int, tmp_path: Path
) -> None:
    """What is closed asks nobody to do anything; reopened it does; the purge notes only what was redeemed."""
    store.redeem_invitation(key, GOOD, b"x" * 32)
    store.add_tokens(key, [NONE], blind=True)
    store.hold_invitations()
    save(store, tmp_path / "saved")
    with closing(SQLiteStorage(tmp_path / "saved")) as copy:
        assert copy.token_counts(key)[:5] == (3, 1, 0, 0, 2)
        assert wrong_counts(copy) == []
    store.close_survey("exam", 1)
    assert store.held_invitations() == {}
    store.reopen_survey("exam")
    assert store.held_invitations()["exam"].number == 2
    assert store.revoke_tokens(key, [NONE]) == 1
    assert store.token_counts(key)[:5] == (3, 1, 1, 0, 1)
    store.close_survey("exam", 1)
    store.purge(key)
    assert list(store.export_table("blind_invitations")) == []
    assert store.token_counts(key) == (3, 1, 1, 0, 0, None)
    assert wrong_counts(store) == []


def test_purge_of_a_revision_leaves_what_a_later_one_asks_for(store: Storage, key: int) -> None:
    """A correction after a close is open by itself; who reported with an id of before it could report again."""
    store.redeem_invitation(key, GOOD, b"x" * 32)
    store.close_survey("exam", 1)
    later = store.publish(blind_survey(revision=2, replaces=blind_survey().digest)).key
    store.hold_invitations()
    store.purge(key)
    assert not store.revisions("exam")[0].purged
    assert store.token_counts(key)[:5] == (2, 1, 0, 0, 1)
    assert store.held_invitations()["exam"].number == 1
    assert wrong_counts(store) == []
    assert store.reissue_invitations(key) == 1
    assert store.redeem_invitation(key, OTHER, b"y" * 32) is Outcome.NEW
    assert wrong_counts(store) == []
    store.close_survey("exam", 2)
    assert store.redeem_invitation(key, OTHER, b"y" * 32) is Outcome.CLOSED
    store.purge(key)
    assert [bytes(row[1]) for row in store.export_table("blind_invitations")] == [GOOD, OTHER]
    store.purge(later)
    assert list(store.export_table("blind_invitations")) == []
    assert store.token_counts(key) == (2, 2, 0, 0, 0, None)
    assert wrong_counts(store) == []


@pytest.mark.parametrize(
    "fault",
    [
        "UPDATE token_counts SET held = held + 1",
        "UPDATE token_counts SET held = 0, held_since = NULL",
        "UPDATE token_counts SET held_since = NULL",
        "UPDATE blind_invitations SET blinded_hash = NULL WHERE length(blinded_hash) < 32",
    ],
)
def test_number_of_held_ones_that_is_off_is_found(store: Storage, key: int, fault: str) -> None:
    store.redeem_invitation(key, GOOD, b"x" * 32)
    store.hold_invitations()
    with store.write() as db:  # type: ignore[attr-defined]
        db.execute(fault)
    assert any("held invitations" in line for line in wrong_counts(store))


def test_of_many_at_once_one_is_first(store: Storage, key: int) -> None:
    with ThreadPoolExecutor(8) as pool:
        things = [bytes([number % 2 or number]) * 32 for number in range(16)]
        found = list(pool.map(lambda thing: store.redeem_invitation(key, GOOD, thing), things))
    assert found.count(Outcome.NEW) == 1
    first = things[found.index(Outcome.NEW)]
    assert {outcome for thing, outcome in zip(things, found, strict=True) if thing == first} <= {
        Outcome.NEW, Outcome.SAME
    }  # fmt: skip
    assert {outcome for thing, outcome in zip(things, found, strict=True) if thing != first} == {Outcome.CONFLICT}


def test_deleted_survey_leaves_no_invitation(store: Storage, key: int) -> None:
    """Nor can one be added after it."""
    store.delete_survey("exam")
    assert list(store.export_table("blind_invitations")) == []
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.CLOSED
