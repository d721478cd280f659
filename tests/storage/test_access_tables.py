"""Accounts, grants, keys, sessions and links in every back end: whom they let in, and whom no longer."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.keys import DAY
from sottovoce.aggregator.storage.accounts.models import (
    EVERY_SURVEY,
    SCOPES,
    AccessKey,
    AccessRefused,
    Account,
    AccountInvitation,
    BoardView,
)
from sottovoce.aggregator.storage.models import SESSION_IDLE, SESSION_MOST

from tests.surveys import survey

TODAY = 20_000
NOW = TODAY * DAY
ANN, BEN = Account(b"a" * 16, "Ann", admin=True), Account(b"b" * 16, "Ben")


@pytest.fixture
def store(store: Storage) -> Storage:
    for account in (ANN, BEN):
        store.access.add_account(account)
    return store


def key(secret: bytes, account: Account = BEN, **changes: Any) -> AccessKey:
    """A key with every scope that expires today."""
    whole = AccessKey(secret, account.id, "laptop", frozenset(SCOPES), EVERY_SURVEY, TODAY)
    return replace(whole, **changes)


def test_accounts_are_known_by_id_and_by_subject(access: AccessTables) -> None:
    """A subject belongs to one account; a name may to two."""
    other = Account(b"c" * 16, "Ben", subject="248289761001")
    access.add_account(other)
    with pytest.raises(AccessRefused, match="another account"):
        access.add_account(replace(ANN, id=b"d" * 16, subject="248289761001"))
    with pytest.raises(AccessRefused, match="another account"):
        access.set_subject(BEN.id, "248289761001")
    access.set_subject(ANN.id, "7")

    assert access.account(BEN.id) == BEN
    assert access.account_of_subject("248289761001") == other
    assert access.account_of_subject("7") == replace(ANN, subject="7")
    assert access.account(b"x" * 16) is access.account_of_subject("") is None
    assert [account.name for account in access.accounts()] == ["Ann", "Ben", "Ben"]


def test_one_role_on_a_survey_at_a_time(access: AccessTables) -> None:
    access.grant(ANN.id, "exam", "owner")
    access.grant(BEN.id, "exam", "viewer")
    access.grant(BEN.id, "exam", "analyst")
    access.grant(BEN.id, "other", "fieldwork")
    access.revoke_grant(BEN.id, "other")
    access.revoke_grant(BEN.id, "nothing")

    assert access.grants(BEN.id) == {"exam": "analyst"}
    assert access.granted("exam") == [(ANN, "owner"), (BEN, "analyst")]


def test_survey_keeps_an_owner(access: AccessTables) -> None:
    """Neither leaves nor becomes less who is the last one, also when every survey is his; a disabled one counts not."""
    access.grant(BEN.id, "exam", "owner")
    for leave in (lambda: access.revoke_grant(BEN.id, "exam"), lambda: access.grant(BEN.id, "exam", "viewer")):
        with pytest.raises(AccessRefused, match="the survey's only owner"):
            leave()
    access.grant(ANN.id, EVERY_SURVEY, "owner")
    access.revoke_grant(BEN.id, "exam")
    access.grant(BEN.id, EVERY_SURVEY, "owner")
    access.disable(BEN.id, TODAY)

    with pytest.raises(AccessRefused, match="only owner"):
        access.revoke_grant(ANN.id, EVERY_SURVEY)


def test_there_is_always_an_admin(access: AccessTables) -> None:
    for lock_out in (lambda: access.disable(ANN.id, TODAY), lambda: access.set_admin(ANN.id, False)):
        with pytest.raises(AccessRefused, match="the only admin"):
            lock_out()
    access.set_admin(BEN.id, True)
    access.disable(ANN.id, TODAY)
    with pytest.raises(AccessRefused):
        access.set_admin(BEN.id, False)
    access.enable(ANN.id)
    access.set_admin(BEN.id, False)

    assert access.account(ANN.id) == ANN
    assert access.account(BEN.id) == BEN


def test_of_two_admins_who_disable_each_other_one_stays(access: AccessTables) -> None:
    access.set_admin(BEN.id, True)
    for _ in range(5):
        with ThreadPoolExecutor(2) as pool:
            tried = [pool.submit(access.disable, account.id, TODAY) for account in (ANN, BEN)]
        assert [type(future.exception()) for future in tried].count(AccessRefused) == 1
        for account in access.accounts():
            access.enable(account.id)


def test_key_lets_its_account_in_until_its_day_is_over(access: AccessTables) -> None:
    access.add_key(key(b"hash", scopes=frozenset({"results:read"}), survey="exam"))
    found = access.key(b"hash", TODAY)

    assert found == (BEN, key(b"hash", scopes=frozenset({"results:read"}), survey="exam"))
    assert access.key(b"hash", TODAY + 1) is access.key(b"other", TODAY) is None
    assert [one.used_on for one in access.list_keys(BEN.id)] == [TODAY]
    assert access.list_keys(ANN.id) == []
    assert access.revoke_key(b"hash")
    assert not access.revoke_key(b"hash")
    assert access.key(b"hash", TODAY) is None


def test_nobody_gets_a_key_who_is_not_let_in(access: AccessTables) -> None:
    access.disable(BEN.id, TODAY)
    for account in (BEN, Account(b"x" * 16, "nobody")):
        with pytest.raises(AccessRefused, match="no such account, or it is disabled"):
            access.add_key(key(b"hash", account))


@pytest.mark.parametrize("less", [{"survey": "exam"}, {"scopes": frozenset(SCOPES[1:])}, {"expires_on": TODAY - 1}])
def test_only_a_whole_key_signs_in(access: AccessTables, less: dict[str, Any]) -> None:
    """A session may do all that its account may: one that was begun by less would be more than the key."""
    access.add_key(key(b"less", **less))
    access.add_key(key(b"whole"))

    assert access.start_session_by_key(b"s", b"less", NOW) is None
    assert access.session(b"s", NOW) is None
    assert access.start_session_by_key(b"s", b"whole", NOW) == BEN


def test_sessions_end_when_idle_old_or_ended(access: AccessTables) -> None:
    """A session lives half an hour without use and half a day at most."""
    assert access.start_session(b"s", ANN.id, "passkey", NOW)
    found = access.session(b"s", NOW + SESSION_IDLE)
    assert (found.account, found.door, found.started, found.used) == (ANN, "passkey", NOW, NOW)
    assert access.session(b"s", NOW + 2 * SESSION_IDLE) is not None
    assert access.session(b"s", NOW + 3 * SESSION_IDLE + 1) is None
    access.end_session(b"s")
    assert access.session(b"s", NOW) is None


def test_session_in_use_ends_after_half_a_day(access: AccessTables) -> None:
    access.start_session(b"s", ANN.id, "link", NOW)
    for moment in range(NOW, NOW + SESSION_MOST + 1, SESSION_IDLE):
        assert access.session(b"s", moment) is not None
    assert access.session(b"s", NOW + SESSION_MOST + 1) is None


def test_sessions_are_listed_and_ended_by_account(access: AccessTables) -> None:
    for number, account in enumerate((ANN, BEN, BEN)):
        access.start_session(b"%d" % number, account.id, "link", NOW + number)
    assert [found.hash for found in access.sessions(BEN.id, NOW + 2)] == [b"2", b"1"]
    access.end_sessions(BEN.id)

    assert access.sessions(BEN.id, NOW + 2) == []
    assert [found.hash for found in access.sessions(ANN.id, NOW + 2)] == [b"0"]


def test_disabled_account_comes_in_by_no_door(access: AccessTables) -> None:
    """Its sessions end, its sign-in links are spent, its keys wait; enabled again it has its keys, not its sessions."""
    access.add_key(key(b"key"))
    access.add_invitation(AccountInvitation(b"link", "", "", BEN.id, TODAY))
    access.start_session(b"s", BEN.id, "link", NOW)
    access.disable(BEN.id, TODAY)

    assert access.account(BEN.id) == replace(BEN, disabled_on=TODAY)
    assert access.session(b"s", NOW) is access.key(b"key", TODAY) is access.invitation(b"link", TODAY) is None
    assert not access.start_session(b"t", BEN.id, "oidc", NOW)
    assert access.start_session_by_key(b"t", b"key", NOW) is None
    access.enable(BEN.id)
    assert access.session(b"s", NOW) is access.session(b"t", NOW) is None
    assert access.key(b"key", TODAY) is not None


def test_deleted_account_gets_nothing_any_more(store: Storage, access: AccessTables) -> None:
    """Whatever lets it in goes with it, and nothing is given to it afterwards: no row of nobody is left."""
    access.add_key(key(b"key"))
    access.add_invitation(AccountInvitation(b"link", "", "", BEN.id, TODAY))
    access.start_session(b"s", BEN.id, "link", NOW)
    access.grant(BEN.id, "exam", "viewer")
    assert access.delete(BEN.id)
    assert not access.delete(BEN.id)

    assert access.session(b"s", NOW) is access.key(b"key", TODAY) is access.invitation(b"link", TODAY) is None
    for give in (
        lambda: access.grant(BEN.id, "exam", "viewer"),
        lambda: access.add_key(key(b"other")),
        lambda: access.add_invitation(AccountInvitation(b"other", "", "", BEN.id, TODAY)),
    ):
        with pytest.raises(AccessRefused):
            give()
    with pytest.raises(AccessRefused, match="only admin"):
        access.delete(ANN.id)
    assert store.verify() == []


SHUT_OUT: dict[str, Callable[[AccessTables], object]] = {
    "disabled": lambda access: access.disable(BEN.id, TODAY),
    "deleted": lambda access: access.delete(BEN.id) and access.add_account(BEN),
    "key revoked": lambda access: access.revoke_key(b"key"),
    "revoked by name": lambda access: access.revoke_researcher("Ben"),
}


@pytest.mark.parametrize("way", SHUT_OUT)
def test_nothing_outlives_being_shut_out_at_the_same_moment(access: AccessTables, way: str) -> None:
    """Logins by a key beside it: once it has returned, no session is left."""
    for _ in range(6):
        access.add_key(key(b"key"))
        with ThreadPoolExecutor(4) as pool:
            logins = [pool.submit(access.start_session_by_key, b"s%d" % number, b"key", NOW) for number in range(3)]
            out = pool.submit(SHUT_OUT[way], access)
        assert [future.exception() for future in (*logins, out)] == [None] * 4
        # Looked for as if nobody had been shut out: no row may be left that waits for that.
        access.enable(BEN.id)
        assert access.sessions(BEN.id, NOW) == []
        access.revoke_key(b"key")


def test_no_session_by_another_door_outlives_being_disabled_at_the_same_moment(access: AccessTables) -> None:
    for turn in range(6):
        access.add_invitation(AccountInvitation(b"link", "", "", BEN.id, TODAY))
        with ThreadPoolExecutor(3) as pool:
            tried = [
                pool.submit(access.start_session, b"a%d" % turn, BEN.id, "oidc", NOW),
                pool.submit(access.start_session_by_link, b"b%d" % turn, b"link", NOW),
                pool.submit(access.disable, BEN.id, TODAY),
            ]
        assert [future.exception() for future in tried] == [None] * 3
        assert access.invitation(b"link", TODAY) is None
        access.enable(BEN.id)
        assert access.sessions(BEN.id, NOW) == []


def test_revoked_key_ends_the_sessions_that_were_begun_by_keys(access: AccessTables) -> None:
    """And no other ones: whoever came in by the institution's door stays."""
    access.add_key(key(b"key"))
    access.start_session_by_key(b"k", b"key", NOW)
    access.start_session(b"o", BEN.id, "oidc", NOW)
    access.revoke_key(b"key")

    assert [found.door for found in access.sessions(BEN.id, NOW)] == ["oidc"]


def test_sign_in_link_is_good_once(access: AccessTables) -> None:
    """Of four at the same moment one gets in; not after its day, and not for somebody new."""
    access.add_invitation(AccountInvitation(b"link", "", "", BEN.id, TODAY))
    assert access.start_session_by_link(b"late", b"link", NOW + DAY) is None
    assert not access.accept_invitation(b"link", Account(b"c" * 16, "Eve"), TODAY)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: access.start_session_by_link(b"%d" % n, b"link", NOW), range(4)))

    assert sorted(found, key=str) == [BEN, None, None, None]
    assert len(access.sessions(BEN.id, NOW)) == 1
    assert access.invitations() == []


def test_invitation_makes_one_account_with_its_role(access: AccessTables) -> None:
    access.set_subject(ANN.id, "7")
    access.add_invitation(AccountInvitation(b"link", "exam", "analyst", None, TODAY))
    with pytest.raises(AccessRefused):
        access.accept_invitation(b"link", Account(b"z" * 16, "Zoe", subject="7"), TODAY)
    assert access.start_session_by_link(b"s", b"link", NOW) is None
    new = [Account(bytes([number]) * 16, "New") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda account: access.accept_invitation(b"link", account, TODAY), new))

    assert sorted(made) == [False, False, False, True]
    assert len(access.accounts()) == 3
    assert access.grants(new[made.index(True)].id) == {"exam": "analyst"}


def test_ethics_link_shows_until_its_day_is_over_or_it_is_ended(access: AccessTables) -> None:
    views = [BoardView(b"1", "exam", "digest", False, TODAY), BoardView(b"2", "exam", "digest", True, TODAY + 1)]
    for view in views:
        access.add_view(view)

    assert access.views("exam") == views
    assert access.view(b"2", TODAY + 1) == views[1]
    assert access.view(b"1", TODAY + 1) is None
    access.end_view(b"2")
    assert access.view(b"2", TODAY) is None


def test_researcher_is_an_account_that_may_everything_with_its_keys(store: Storage) -> None:
    for name, secret in (("Cy", b"1"), ("Dee", b"2"), ("Cy", b"3")):
        store.add_researcher(name, secret)
        store.access.start_session_by_key(secret, secret, NOW)
    [cy] = [account for account in store.access.accounts() if account.name == "Cy"]

    assert cy.admin
    assert store.access.grants(cy.id) == {EVERY_SURVEY: "owner"}
    assert (store.access.revoke_researcher("Cy"), store.access.revoke_researcher("nobody")) == (2, 0)
    assert [store.access.key(secret, TODAY) is not None for secret in (b"1", b"2", b"3")] == [False, True, False]
    assert [store.access.session(secret, NOW) is not None for secret in (b"1", b"2", b"3")] == [False, True, False]


def test_deleted_survey_leaves_nothing_that_names_it(store: Storage) -> None:
    """What is for every survey, or for none, stays."""
    store.publish(survey())
    access = store.access
    access.grant(BEN.id, "exam", "owner")
    access.grant(ANN.id, EVERY_SURVEY, "owner")
    access.add_key(key(b"1", survey="exam"))
    access.add_key(key(b"2"))
    access.add_invitation(AccountInvitation(b"3", "exam", "viewer", None, TODAY))
    access.add_invitation(AccountInvitation(b"4", "", "", BEN.id, TODAY))
    access.add_view(BoardView(b"5", "exam", "digest", False, TODAY))
    store.delete_survey("exam")

    assert (access.grants(BEN.id), access.grants(ANN.id)) == ({}, {EVERY_SURVEY: "owner"})
    assert [found.hash for found in access.list_keys()] == [b"2"]
    assert [found.hash for found in access.invitations()] == [b"4"]
    assert access.views("exam") == store.verify() == []


def test_right_of_nobody_is_found(store: Storage) -> None:
    """A row without its account is a mistake that ``doctor`` tells."""
    with store.write() as db:
        db.execute("INSERT INTO grants (account, survey, role) VALUES (?, ?, ?)", [b"x" * 16, "exam", "viewer"])

    assert store.verify() == ["rows of the table grants that belong to no account: 1"]
