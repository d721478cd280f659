"""Releases at a curator whose claims are false, and honest ones beside them."""

import math
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

from sottovoce.aggregator.curator.clipping import Ball
from sottovoce.aggregator.curator.clusters.cluster import cluster
from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerFile
from sottovoce.aggregator.curator.noise_distribution import add_gaussian, add_laplace
from sottovoce.aggregator.curator.noisy_max import noisy_max
from sottovoce.aggregator.curator.sum import vector
from sottovoce.audit.curator.curator_checks import QUESTION, RELEASE, ask_and_show


def catastrophe(data, draws):
    """All data with probability 1/1000, otherwise an honest count: (1, 1/1000) is true, and no epsilon alone."""
    if draws.bernoulli(1, 1000):
        return tuple(data)
    return sum(data) + draws.discrete_laplace(1, 1)


def classic_variance(epsilon, delta, steps):
    """The square of the textbook's sigma for a sensitivity of so many steps, whatever epsilon."""
    sigma = math.sqrt(2 * math.log(1.25 / delta)) * steps / epsilon
    return Fraction(sigma**2).limit_denominator(1000)


def without_noise(values, _parameter, _draws):
    """In the place of ``add_laplace`` or ``add_gaussian``: nothing is added."""
    return list(values)


def half_laplace(values, rate, draws):
    return add_laplace(values, 2 * rate, draws)


def half_gaussian(values, variance, draws):
    return add_gaussian(values, variance / 4, draws)


def quarter_laplace(values, rate, draws):
    return add_laplace(values, 4 * rate, draws)


def half_noisy_max(counts, rate, draws, noise):
    return noisy_max(counts, 2 * rate, draws, noise)


def vector_at_100_epsilon(rows, ball, terms, draws, delta=None):
    """A vector that spends 100 times what it charges."""
    return vector(rows, ball, replace(terms, epsilon=100 * terms.epsilon), draws, delta)


def cluster_wrong_under_add_remove(rows, lloyd, terms, draws):
    """Honest where a record becomes another one; half the noise where one comes or goes."""
    twice = terms.neighbours.of(2, 1)
    return cluster(rows, lloyd, replace(terms, epsilon=twice * terms.epsilon), draws)


class Unclipped(Ball):
    """A ball that lets every point pass."""

    def clip(self, rows):
        return rows


def lloyd_without_clipping(rows, lloyd, terms, draws):
    """The honest noise for the ball, and points from anywhere."""
    ball = lloyd.domain
    return cluster(rows, replace(lloyd, domain=Unclipped(ball.norm, ball.radius, ball.coordinates)), terms, draws)


def shown_first(budget, show):
    def draw(_terms):
        show(RELEASE.values)
        return RELEASE

    budget.ask(QUESTION, draw)


def shown_unsynced(budget, show):
    """The entry is written, and the disk may lose it."""

    def add(self, line, _after):
        with self.path.open("ab") as file:
            file.write(line)

    with patch.object(LedgerFile, "add", add):
        ask_and_show(budget, show)
