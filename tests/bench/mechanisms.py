"""Speed of the client, of the batch client and of the estimators, beside other libraries where they are installed."""

import os
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from sottovoce.aggregator.estimators import estimate
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.estimators.support import band
from sottovoce.aggregator.estimators.variable import support_counts
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, simulate
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.spec import Question

from tests.documents import one_of, parsed, question

MILLION = 1_000_000
COIN = BinaryRR(Fraction(3, 4), Fraction(1, 4))


def best(work: Callable[[], Any], repeats: int = 9) -> float:
    work()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def row(name: str, value: float, unit: str, asked: str) -> None:
    print(f"{name:<64} {value:>10,.2f} {unit:<12} asked: {asked}")


def one_report(asked: Question, answer: str, count: int = 20_000) -> float:
    """Microseconds for one checked answer: encode, check, randomize."""
    draws = Draws()
    randomize = RANDOMIZERS[asked.mechanism.name]  # type: ignore[union-attr]

    def work() -> None:
        for _ in range(count):
            value = asked.encode(answer)
            asked.check(value)
            randomize(asked.mechanism, value, draws)

    return best(work, 3) / count * 1e6


def client() -> None:
    row("client: binary, one checked report", one_report(parsed(question({"name": "coin_flip"})), "yes"), "us", "<= 10")
    sixteen = parsed(one_of(16, {"name": "kary_rr", "odds": "3"}))
    row("client: 16-ary, one checked report", one_report(sixteen, "c7"), "us", "<= 15")


def batch() -> None:
    """The batch client with the operating system's randomness."""
    draws, generator = BatchDraws(os.urandom), np.random.Generator(np.random.PCG64(1))
    bits = generator.integers(0, 2, MILLION, dtype=np.uint8)
    row("batch: coin flip", 1 / best(lambda: simulate(COIN, bits, draws)), "M reports/s", ">= 50")
    uneven = BinaryRR.for_epsilon(Fraction(1), Domain(("no", "yes")))
    row("batch: binary, epsilon 1", 1 / best(lambda: simulate(uneven, bits, draws)), "M reports/s", ">= 50")
    values = generator.integers(0, 16, MILLION, dtype=np.uint8)
    for keep in (Fraction(3), KaryRR.for_epsilon(Fraction(1), domain(16)).keep):
        rate = 1 / best(lambda keep=keep: simulate(KaryRR(keep, 16), values, draws))  # type: ignore[misc]
        row(f"batch: 16-ary, odds {float(keep):.4g}", rate, "M reports/s", ">= 25")


def domain(k: int) -> Domain:
    return Domain(tuple(f"c{i}" for i in range(k)))


def estimators() -> None:
    for k in (2, 16, 1024):
        mechanism, tally = KaryRR(Fraction(3), k), {i: 100 + i % 7 for i in range(k)}
        whole = best(lambda m=mechanism, t=tally, k=k: estimate(m, t, domain(k)))  # type: ignore[misc]
        counts, (a, b) = np.array(list(tally.values())), map(float, mechanism.support)
        limits = best(lambda c=counts, a=a, b=b: METHODS["score-cc"](c, c.sum(), a, b, 0.95))  # type: ignore[misc]
        row(f"estimate: {k} options, share and interval (arrays)", limits * 1e3, "ms", "< 1")
        row(f"estimate: {k} options, with joint limits and everything else", whole * 1e3, "ms", "")
    yes_no = {0: 700_000, 1: 300_000}
    seconds = best(lambda: estimate(COIN, yes_no, domain(2)))
    row("estimate: yes/no of a million", seconds * 1e3, "ms", "< 1")
    for n in (1000, MILLION):
        seconds = best(lambda n=n: band(3 * n // 10, n, 0.75, 0.25, 0.95))  # type: ignore[misc]
        row(f"band: one call at {n:,} reports", seconds * 1e3, "ms", "<= 1")
    columns = np.random.Generator(np.random.PCG64(2)).integers(0, 2048, MILLION)
    hadamard = best(lambda: support_counts(np.bincount(columns, minlength=2048)))
    row("Hadamard: a million reports, 1,024 options", hadamard * 1e3, "ms", "<= 5")


def from_array() -> None:
    """A million 16-ary reports to estimates, beside numpy's own count."""
    reports = np.random.Generator(np.random.PCG64(3)).integers(0, 16, MILLION)
    mechanism, options = KaryRR(Fraction(3), 16), domain(16)

    def work() -> None:
        counts = np.bincount(reports, minlength=16)
        estimate(mechanism, dict(enumerate(counts.tolist())), options)

    limit = best(lambda: np.bincount(reports, minlength=16))
    row("a million 16-ary reports to estimates, times numpy's bincount", best(work) / limit, "x", "<= 3")


def others() -> None:
    """The same work in other libraries, those of them that are installed."""
    bits = [int(bit) for bit in np.random.Generator(np.random.PCG64(4)).integers(0, 2, 20_000)]
    try:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

        seconds = best(lambda: [GRR_Client(bit, 2, 1.0986) for bit in bits], 3)
        row("multi-freq-ldpy: GRR, two values", len(bits) / seconds / 1e6, "M reports/s", "")
    except ImportError:
        print("multi-freq-ldpy is not installed")
    try:
        from pure_ldp.frequency_oracles.direct_encoding import DEClient

        peer = DEClient(1.0986, 2)
        seconds = best(lambda: [peer.privatise(bit + 1) for bit in bits], 3)
        row("pure-ldp: direct encoding, two values", len(bits) / seconds / 1e6, "M reports/s", "")
    except ImportError:
        print("pure-ldp is not installed")
    try:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        measurement = dp.m.make_randomized_response_bool(prob=0.75)
        seconds = best(lambda: [measurement(bool(bit)) for bit in bits[:2000]], 3)
        row("opendp: randomized response", 2000 / seconds / 1e6, "M reports/s", "")
    except ImportError:
        print("opendp is not installed")


def figures() -> None:
    for part in (client, batch, estimators, from_array, others):
        part()


if __name__ == "__main__":
    figures()
