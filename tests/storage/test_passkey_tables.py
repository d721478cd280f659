"""Passkeys in every back end: whom they let in, once, and whom no longer."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.models import AccessRefused, Account
from sottovoce.aggregator.storage.accounts.passkeys import MOST, Passkey, PasskeyUse
from sottovoce.aggregator.storage.audit_log import events as words

TODAY = 20_000
NOW = TODAY * 86400
ANN, BEN = Account(b"a" * 16, "Ann", admin=True), Account(b"b" * 16, "Ben")
PHONE = Passkey(b"phone", BEN.id, b"a public key", 0, "my phone", TODAY)
KEY = replace(PHONE, credential_id=b"key", label="a key that counts", sign_count=2**31)


@pytest.fixture
def store(store: Storage) -> Storage:
    for account in (ANN, BEN):
        store.access.add_account(account)
    for passkey in (PHONE, KEY):
        store.access.add_passkey(passkey)
    return store


def use(passkey: Passkey, challenge: bytes, sign_count: int = 0) -> PasskeyUse:
    return PasskeyUse(passkey.credential_id, sign_count, challenge, NOW + 300)


def let_in(access: AccessTables, used: PasskeyUse, now: int = NOW) -> Account | None:
    session = used.challenge_hash + b" session"
    begun = access.start_session_by_passkey(session, used, now)
    found = access.session(session, now)
    assert (None if found is None else (found.account, found.door)) == (None if begun is None else (begun, "passkey"))
    return begun


def test_passkeys_are_known_by_name_and_listed_by_label(access: AccessTables) -> None:
    """Each as it was added; nobody else has them."""
    assert access.passkey(b"phone") == PHONE
    assert access.passkey(b"none") is None
    assert access.passkeys(BEN.id) == [KEY, PHONE]
    assert access.passkeys(ANN.id) == []


def test_passkey_is_added_once_to_an_account_that_is_let_in(access: AccessTables) -> None:
    with pytest.raises(AccessRefused, match="known here already"):
        access.add_passkey(replace(PHONE, account=ANN.id))
    for number in range(MOST - 2):
        access.add_passkey(replace(PHONE, credential_id=b"%d" % number))
    with pytest.raises(AccessRefused, match="at most 20"):
        access.add_passkey(replace(PHONE, credential_id=b"one more"))
    access.disable(BEN.id, TODAY)
    with pytest.raises(AccessRefused, match="disabled"):
        access.add_passkey(replace(PHONE, credential_id=b"new"))


def test_challenge_lets_in_once(access: AccessTables) -> None:
    """Also of several at the same moment; afterwards it is forgotten, since it is worth nothing anyway."""
    with ThreadPoolExecutor(4) as threads:
        answers = list(
            threads.map(
                lambda number: access.start_session_by_passkey(b"%d" % number, use(PHONE, b"asked"), NOW), range(4)
            )
        )
    assert sorted(answer is not None for answer in answers) == [False, False, False, True]
    assert let_in(access, use(PHONE, b"asked"), NOW + 300) is None

    assert let_in(access, use(PHONE, b"asked later"), NOW + 301) == BEN
    assert let_in(access, use(PHONE, b"asked"), NOW + 301) == BEN


def test_device_that_counts_must_count_on(access: AccessTables) -> None:
    """What has counted less than was seen is a copy; one that says 0 for ever does not count."""
    assert let_in(access, use(KEY, b"1", 2**31)) is None
    assert let_in(access, use(KEY, b"2", 0)) is None
    assert let_in(access, use(KEY, b"3", 2**31 + 1)) == BEN
    assert let_in(access, use(KEY, b"4", 2**31 + 1)) is None
    assert let_in(access, use(PHONE, b"5")) == BEN
    assert let_in(access, use(PHONE, b"6")) == BEN


def test_disabled_account_is_not_let_in(access: AccessTables) -> None:
    """Its passkeys are good again when it is."""
    access.disable(BEN.id, TODAY)
    assert let_in(access, use(PHONE, b"1")) is None
    access.enable(BEN.id)
    assert let_in(access, use(PHONE, b"2")) == BEN


def test_removed_passkey_ends_the_sessions_of_its_door(access: AccessTables) -> None:
    """Sessions by other doors go on; nobody removes another's."""
    access.start_session(b"by key", BEN.id, "key", NOW)
    access.start_session_by_passkey(b"by passkey", use(PHONE, b"1"), NOW)

    assert not access.remove_passkey(ANN.id, b"phone")
    assert access.session(b"by passkey", NOW) is not None
    assert access.remove_passkey(BEN.id, b"phone")

    assert access.session(b"by passkey", NOW) is None
    assert access.session(b"by key", NOW) is not None
    assert let_in(access, use(PHONE, b"2")) is None
    assert access.passkeys(BEN.id) == [KEY]


def test_each_step_of_a_passkey_is_noted_once(store: Storage, access: AccessTables) -> None:
    first, ben = store.journal.head().number, BEN.id.hex()
    own = access.by(ben)
    for added in (replace(PHONE, credential_id=b"new"), PHONE):
        with suppress(AccessRefused):
            own.add_passkey(added)
    for _ in range(2):
        own.start_session_by_passkey(b"session", use(PHONE, b"1"), NOW)
        own.remove_passkey(BEN.id, b"new")
    told = [(one.what, one.who, one.about) for one in store.journal.entries() if one.number > first]

    assert told == [
        (words.PASSKEY_ADDED, ben, ben), (words.LOGIN, ben, "passkey"), (words.PASSKEY_REMOVED, ben, ben)
    ]  # fmt: skip


def test_challenge_key_is_drawn_once_for_all_nodes(access: AccessTables) -> None:
    assert access.challenge_key(b"first") == b"first"
    assert access.challenge_key(b"second") == b"first"
