"""Invitations on both back ends: redeemed once, whoever asks and however many at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sottovoce.aggregator.storage import Outcome, Storage

from tests.invited import blind_survey
from tests.storage.test_contract import store  # noqa: F401 - a fixture

GOOD, OTHER, NONE = b"a" * 32, b"b" * 32, b"c" * 32


@pytest.fixture
def key(store: Storage) -> int:  # noqa: F811
    """Of a survey with two invitations."""
    first = store.publish(blind_survey()).key
    store.add_tokens(first, [GOOD, OTHER], blind=True)
    return first


def test_invitation_is_used_up_for_one_thing(store: Storage, key: int) -> None:  # noqa: F811
    """The same again is the same; another thing, an unknown one, a revoked one and a closed survey are refused."""
    assert store.has_token(key, GOOD)
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.NEW
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.SAME
    assert store.redeem_invitation(key, GOOD, b"y" * 32) is Outcome.CONFLICT
    assert store.redeem_invitation(key, NONE, b"x" * 32) is Outcome.TOKEN_INVALID
    assert not store.has_token(key, GOOD)
    assert store.revoke_tokens(key, [GOOD, OTHER]) == 1
    assert store.redeem_invitation(key, OTHER, b"x" * 32) is Outcome.TOKEN_INVALID
    assert store.token_counts(key) == (2, 1, 1, 0)
    store.scrub()
    assert [bytes(row[1]) for row in store.export_table("blind_invitations")] == [GOOD]
    store.close_survey("exam", 1)
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.CLOSED
    store.purge(key)
    assert list(store.export_table("blind_invitations")) == []
    assert store.token_counts(key) == (2, 1, 1, 0)


def test_what_a_restore_holds_is_good_only_when_somebody_has_said_so(store: Storage, key: int) -> None:  # noqa: F811
    """What was redeemed stays so; the rest waits, can be taken back, and is counted when it is let go."""
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.NEW
    store.hold_invitations()
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.SAME
    assert store.redeem_invitation(key, OTHER, b"y" * 32) is Outcome.UNKNOWN
    assert not store.has_token(key, OTHER)
    assert store.reissue_invitations(key) == 1
    assert store.reissue_invitations(key) == 0
    assert store.redeem_invitation(key, OTHER, b"y" * 32) is Outcome.NEW
    assert store.token_counts(key) == (2, 2, 0, 0)
    store.add_tokens(key, [NONE], blind=True)
    store.hold_invitations()
    assert store.revoke_tokens(key, [NONE]) == 1
    assert store.token_counts(key) == (3, 2, 1, 0)


def test_of_many_at_once_one_is_first(store: Storage, key: int) -> None:  # noqa: F811
    """Sixteen requests, half of them for the same thing: one NEW, and no two different things are granted."""
    with ThreadPoolExecutor(8) as pool:
        things = [bytes([number % 2 or number]) * 32 for number in range(16)]
        found = list(pool.map(lambda thing: store.redeem_invitation(key, GOOD, thing), things))
    assert found.count(Outcome.NEW) == 1
    first = things[found.index(Outcome.NEW)]
    assert {outcome for thing, outcome in zip(things, found, strict=True) if thing == first} <= {
        Outcome.NEW, Outcome.SAME
    }  # fmt: skip
    assert {outcome for thing, outcome in zip(things, found, strict=True) if thing != first} == {Outcome.CONFLICT}


def test_deleted_survey_leaves_no_invitation(store: Storage, key: int) -> None:  # noqa: F811
    """Nor can one be added after it."""
    store.delete_survey("exam")
    assert list(store.export_table("blind_invitations")) == []
    assert store.redeem_invitation(key, GOOD, b"x" * 32) is Outcome.CLOSED
