"""Draw once: the first report recorded for a survey is the only one, whatever keeps the ledger."""

import pytest
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Entry, Key, MemoryLedger, recorded
from sottovoce.shared.errors import BudgetExhausted

KEY = Key("https://a.example", "s")
ENTRY = Entry("d" * 64, 1.5, '{"x":1}')


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    """Both kinds keep one contract."""
    return MemoryLedger() if request.param == "memory" else FileLedger(tmp_path / "deep" / "ledger")


def test_ledger_gives_back_what_was_recorded(ledger):
    """Nothing at first, then the entry."""
    assert ledger.get(KEY) is None
    assert ledger.record(KEY, ENTRY) == ENTRY
    assert ledger.get(KEY) == ENTRY


def test_ledger_keeps_the_first_of_two_draws(ledger):
    """A second draw would be a second look at the truth."""
    ledger.record(KEY, ENTRY)

    assert ledger.record(KEY, Entry("d" * 64, 1.5, '{"x":0}')) == ENTRY
    assert ledger.get(KEY) == ENTRY


@pytest.mark.parametrize(
    "other",
    [Key("https://b.example", "s"), Key("https://a.example", "t"), Key("https://a.example", "s", 1),
     Key("https://a.example", "s", 0, "token")],
)  # fmt: skip
def test_ledger_keeps_keys_apart(ledger, other):
    """Another aggregator, survey, wave or token is another draw."""
    ledger.record(KEY, ENTRY)

    assert ledger.get(other) is None


def test_ledger_adds_up_epsilon_by_aggregator(ledger):
    """Every draw counts, sent or not, and only those for the same aggregator."""
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
    """And why it ended; nothing else is recorded in its place."""
    ledger.record(KEY, ENTRY)
    ledger.end(KEY, "withdrawn")

    assert ledger.record(KEY, ENTRY) == Entry(ENTRY.digest, ENTRY.epsilon, "", ended="withdrawn")
    assert ledger.spent(KEY.origin) == ENTRY.epsilon


def test_only_a_report_that_has_not_arrived_is_waiting():
    """Not one that arrived, and none that ended."""
    waiting = [ENTRY, *(Entry("d", 1.0, *rest) for rest in [("{}", True), ("", False, "withdrawn")])]

    assert [entry.waiting for entry in waiting] == [True, False, False]


def test_recorded_refuses_another_version_of_the_survey(ledger):
    """A revision buys no second draw."""
    ledger.record(KEY, ENTRY)

    assert recorded(ledger, KEY, ENTRY.digest) == ENTRY
    with pytest.raises(BudgetExhausted, match="another version"):
        recorded(ledger, KEY, "e" * 64)
