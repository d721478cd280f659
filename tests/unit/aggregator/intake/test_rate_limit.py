"""Rate limits that keep no address."""

import pytest
from sottovoce.aggregator.intake.request_limits import DAY, MOST_NETWORKS, Rates


class Time:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_network_may_send_a_minutes_worth_and_then_evenly() -> None:
    time = Time()
    rates = Rates(60, monotonic=time)
    assert [rates.allow(f"203.0.113.{number}") for number in range(61)] == [True] * 60 + [False]
    assert rates.allow("203.0.114.1")
    time.seconds += 1
    assert [rates.allow("203.0.113.9") for _ in range(2)] == [True, False]
    assert all(rates.allow("2001:db8:1:1::1") for _ in range(60))
    assert not rates.allow("2001:db8:1:2::1")
    assert rates.allow("2001:db8:2::1")


def test_looking_for_room_takes_none() -> None:
    time = Time()
    rates = Rates(2, monotonic=time)
    seen = [
        (rates.is_within_limit("203.0.113.1"), rates.is_within_limit("203.0.113.9"), rates.allow("203.0.113.1"))
        for _ in "123"
    ]

    assert seen == [(True, True, True), (True, True, True), (False, False, False)]
    assert rates.is_within_limit("198.51.100.7")
    assert rates.is_within_limit("127.0.0.1")
    time.seconds += 30
    assert rates.is_within_limit("203.0.113.1")
    assert Rates(0).is_within_limit("203.0.113.1")


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", None])
def test_this_machine_and_no_limit_are_let_pass(peer: str | None) -> None:
    """A demonstration is not held up."""
    rates, unlimited = Rates(1), Rates(0)
    assert all(rates.allow(peer) for _ in range(9))
    assert all(unlimited.allow("203.0.113.1") for _ in range(9))


def test_address_is_read_behind_the_named_proxies_alone() -> None:
    """An IPv4 address in IPv6 is the same one."""
    rates = Rates(1, hops=1)
    assert [rates.allow("127.0.0.1", f"10.{number}.0.1, 203.0.113.1") for number in range(2)] == [True, False]
    assert rates.allow("127.0.0.1", "203.0.114.1")
    assert [rates.allow("127.0.0.1", "nonsense") for _ in range(2)] == [True, False]
    unproxied = Rates(1)
    assert [unproxied.allow("203.0.113.1", f"10.{number}.0.1") for number in range(2)] == [True, False]

    rates = Rates(1)
    assert rates.allow("::ffff:203.0.113.1")
    assert not rates.allow("203.0.113.9")
    assert rates.allow("::ffff:198.51.100.1")
    assert all(rates.allow("::ffff:127.0.0.1") for _ in range(3))


def test_key_changes_daily_and_memory_is_bounded() -> None:
    """Yesterday's hashes tell nothing today, and a flood of networks does not fill the memory."""
    time = Time()
    rates = Rates(1, monotonic=time)
    rates.allow("203.0.113.1")
    key, buckets = rates._key, set(rates._buckets)
    time.seconds += DAY
    rates.allow("203.0.113.1")
    assert rates._key != key
    assert set(rates._buckets).isdisjoint(buckets)
    for number in range(MOST_NETWORKS + 9):
        rates.allow(f"{1 + (number >> 16)}.{number >> 8 & 255}.{number & 255}.1")
    assert len(rates._buckets) <= MOST_NETWORKS
