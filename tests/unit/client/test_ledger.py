"""Draw once: the first report recorded for a survey is the only one, whatever keeps the ledger."""

import hashlib
from dataclasses import replace

import pytest
from sottovoce.client.ledger import Entry, Key, recorded

KEY = Key("https://a.example", "s")
ENTRY = Entry("d" * 64, 1.5, '{"x":1}')


def test_ledger_keeps_the_first_of_two_draws(ledger):
    """Nothing at first, then the entry for good: a second draw would be a second look at the truth."""
    assert ledger.get(KEY) is None
    assert ledger.record(KEY, ENTRY) == ENTRY
    assert ledger.get(KEY) == ENTRY

    assert ledger.record(KEY, Entry("d" * 64, 1.5, '{"x":0}')) == ENTRY
    assert ledger.get(KEY) == ENTRY


@pytest.mark.parametrize(
    "other",
    [Key("https://b.example", "s"), Key("https://a.example", "t"), Key("https://a.example", "s", 1),
     Key("https://a.example", "s", 0, "token")],
)  # fmt: skip
def test_ledger_keeps_keys_apart(ledger, other):
    ledger.record(KEY, ENTRY)

    assert ledger.get(other) is None


def test_ledger_adds_up_epsilon_by_aggregator(ledger):
    ledger.record(KEY, ENTRY)
    ledger.record(KEY._replace(wave=1), ENTRY)
    ledger.record(KEY._replace(origin="https://b.example"), ENTRY)
    ledger.record(KEY, ENTRY)

    assert ledger.spent(KEY.origin) == 3.0
    assert ledger.spent("https://c.example") == 0


def test_mark_sent_changes_nothing_else(ledger):
    """The bytes stay, for whoever sends them again."""
    ledger.record(KEY, ENTRY)
    ledger.mark_sent(KEY)

    assert ledger.get(KEY) == Entry(ENTRY.digest, ENTRY.epsilon, ENTRY.body, sent=True)


def test_ended_report_keeps_its_charge_only(ledger):
    ledger.record(KEY, ENTRY)
    ledger.end(KEY, "withdrawn")

    assert ledger.record(KEY, ENTRY) == Entry(ENTRY.digest, ENTRY.epsilon, "", ended="withdrawn")
    assert ledger.spent(KEY.origin) == ENTRY.epsilon


def test_only_a_report_that_has_not_arrived_is_waiting():
    waiting = [ENTRY, *(Entry("d", 1.0, *rest) for rest in [("{}", True), ("", False, "withdrawn")])]

    assert [entry.waiting for entry in waiting] == [True, False, False]


def test_recorded_finds_what_was_drawn_with_the_token_or_without_any(ledger):
    """A survey that is open to all ignores the token of a link; whatever revision a link names."""
    bound = KEY._replace(token="0123456789ABCDEF")
    assert recorded(ledger, bound) is None
    ledger.record(KEY, ENTRY)
    assert recorded(ledger, bound) == recorded(ledger, KEY) == (KEY, ENTRY)
    ledger.record(bound, OTHER)

    assert recorded(ledger, bound) == (bound, OTHER)
    assert recorded(ledger, KEY) == (KEY, ENTRY)


ONE, TWO, THREE = (KEY._replace(token=letter * 16) for letter in "123")
OTHER = Entry("d" * 64, 2.0, '{"x":2}')


def test_unaccepted_report_is_one_of_the_same_wave_that_nobody_acknowledged(ledger):
    for elsewhere in (KEY._replace(wave=1), KEY._replace(survey="t"), KEY._replace(origin="https://b.example"), TWO):
        ledger.record(elsewhere, OTHER)
    assert ledger.unaccepted(TWO) is None
    ledger.record(ONE, ENTRY)
    assert ledger.unaccepted(TWO) == ENTRY
    ledger.mark_refused(ONE, "token_invalid")
    assert ledger.unaccepted(TWO) == replace(ENTRY, refused="token_invalid")
    ledger.mark_sent(ONE)
    assert ledger.unaccepted(TWO) is None
    assert ledger.unaccepted(ONE) == OTHER
    ledger.end(TWO, "forgotten")
    assert ledger.unaccepted(ONE) is None


def test_bound_report_is_one_report_under_two_keys(ledger):
    ledger.record(ONE, ENTRY)
    ledger.mark_refused(ONE, "token_invalid")
    refused = ledger.get(ONE)

    assert ledger.bind(TWO, refused) == replace(refused, epsilon=0.0)
    assert ledger.get(ONE) == refused
    assert ledger.spent(KEY.origin) == ENTRY.epsilon
    assert ledger.record(TWO, OTHER) == ledger.get(TWO) != OTHER


def test_bound_report_arrives_under_both_keys(ledger):
    ledger.record(ONE, ENTRY)
    ledger.bind(TWO, ENTRY)
    ledger.mark_refused(TWO, "closed")
    ledger.mark_sent(TWO)

    assert [(entry.sent, entry.refused) for entry in map(ledger.get, (ONE, TWO))] == [(True, "")] * 2
    assert ledger.unaccepted(THREE) is None


@pytest.mark.parametrize("own", [ONE, TWO, THREE])
def test_ending_wipes_every_copy_and_keeps_the_charge(ledger, own):
    ledger.record(ONE, ENTRY)
    ledger.bind(TWO, ENTRY)
    ledger.bind(THREE, ENTRY)
    ledger.end(own, "withdrawn")

    assert {(each.body, each.ended) for each in map(ledger.get, (ONE, TWO, THREE))} == {("", "withdrawn")}
    assert ledger.spent(KEY.origin) == ENTRY.epsilon


def test_what_was_sent_or_ended_meanwhile_is_not_bound(ledger):
    """Another program was quicker: what it wiped is not written back, nor another report taken for this one."""
    ledger.record(ONE, ENTRY)
    for body in ("", '{"x":0}', '{"x":2}'):
        assert ledger.bind(TWO, replace(ENTRY, body=body)) is None
    ledger.end(ONE, "forgotten")
    assert ledger.bind(TWO, ENTRY) is None
    assert ledger.get(TWO) is None


def test_refusal_changes_nothing_that_arrived_or_ended(ledger):
    """A late refusal of a second try is no news about a report that was acknowledged."""
    for key, change in ((ONE, ledger.mark_sent), (TWO, lambda key: ledger.end(key, "withdrawn"))):
        ledger.record(key, ENTRY)
        change(key)
        before = ledger.get(key)
        ledger.mark_refused(key, "closed")
        assert ledger.get(key) == before


def test_ending_one_memo_leaves_another_that_is_alike(ledger):
    """Four memos of one question are possible, so two surveys often have the same."""
    for key in (KEY, KEY._replace(survey="t"), KEY._replace(origin="https://b.example")):
        ledger.record(key._replace(wave=-1), ENTRY)
    ledger.end(KEY._replace(wave=-1), "forgotten")

    assert ledger.get(KEY._replace(survey="t", wave=-1)) == ENTRY
    assert ledger.get(KEY._replace(origin="https://b.example", wave=-1)) == ENTRY


def test_survey_is_kept_as_long_as_a_report_of_it(ledger):
    text = b'{"name":"s"}'
    digest = hashlib.sha256(text).hexdigest()
    first = replace(ENTRY, digest=digest)
    ledger.record(ONE, first, text)
    ledger.record(ONE, replace(OTHER, digest="e" * 64), b"another")
    ledger.record(TWO, replace(OTHER, digest=digest), text)
    assert (ledger.text(digest), ledger.text("e" * 64)) == (text, None)
    ledger.end(ONE, "forgotten")
    assert ledger.text(digest) == text
    ledger.end(TWO, "withdrawn")
    assert ledger.text(digest) is None


def test_survey_is_kept_for_an_entry_that_has_none(ledger):
    """As an earlier release left it."""
    text = b'{"name":"s"}'
    digest = hashlib.sha256(text).hexdigest()
    ledger.record(KEY, replace(ENTRY, digest=digest))
    assert ledger.text(digest) is None
    ledger.keep(digest, text)
    assert ledger.text(digest) == text
