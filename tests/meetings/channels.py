"""Channels from the integers of the survey file, for the reference alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

Floats = np.ndarray


@dataclass(frozen=True)
class Channel:
    """P(reported | true), (k, m), names of the true answers ("absent" last, not ``answered``), reported values of the
    columns, and the fact that hides the answer: its name, share and error.
    """

    names: tuple[str, ...]
    values: tuple[int, ...]
    chances: Floats
    answered: int
    public: bool = False
    fact: tuple[str, float, float] | None = None
    truth: float = 1.0

    @cached_property
    def scores(self) -> Floats:
        """Unbiased scores of the true answers for each column, (k, m): the left inverse for a uniform truth."""
        weighed = self.chances / self.chances.sum(axis=0)
        return np.linalg.solve(weighed @ self.chances.T, weighed)

    @property
    def is_square(self) -> bool:
        """Whether moments inside the simplex are the likelihood's maximum."""
        return self.chances.shape[0] == self.chances.shape[1]

    def moved(self, by: float) -> "Channel":
        """The channel if the innocuous share were larger by so much."""
        share = (self.fact or ("", 0.0))[1] + by
        return replace(self, chances=by_hand(share, self.truth))


def two(a: float, b: float) -> Floats:
    return np.array([[1 - b, b], [1 - a, a]])


def by_hand(share: float, truth: float) -> Floats:
    """The channel of an innocuous share: crosswise for truth 1, else of an unrelated question."""
    if truth == 1:
        return two(max(share, 1 - share), min(share, 1 - share))
    return two(truth + (1 - truth) * share, (1 - truth) * share)


def channel(question: dict[str, Any]) -> Channel:
    names = tuple(each["name"] for each in question.get("choices", [])) or ("no", "yes")
    answered = len(names)
    names += ("absent",) if question.get("absent_category") else ()
    size, plain = len(names), tuple(range(len(names)))
    if "innocuous" in question:
        own = question["innocuous"]
        share, truth = float(Fraction(own["share"])), float(Fraction(own.get("truth", 1)))
        fact = (own.get("fact") or question["name"], share, float(Fraction(own.get("se", 0))))
        return Channel(names, plain, by_hand(share, truth), answered, fact=fact, truth=truth)
    if question.get("public"):
        return Channel(names, plain, np.eye(size), answered, public=True)
    made = question["mechanism"]
    if made["name"] == "binary_rr":
        return Channel(names, plain, two(float(Fraction(made["a"])), float(Fraction(made["b"]))), answered)
    odds = float(Fraction(made["odds"]))
    if made["name"] == "kary_rr":
        return Channel(names, plain, (1 + (odds - 1) * np.eye(size)) / (odds + size - 1), answered)
    masks = tuple(sorted(sum(1 << place for place in one) for one in combinations(range(size), made["size"])))
    weights = np.array([[odds if mask >> true & 1 else 1.0 for mask in masks] for true in plain])
    return Channel(names, masks, weights / weights.sum(axis=1, keepdims=True), answered)


def block_channel(sizes: Sequence[int], mechanism: dict[str, Any], places: Sequence[int]) -> Floats:
    """P(reported | true) of some questions of a block, combinations in the order of their places."""
    odds, every = float(Fraction(mechanism["odds"])), list(product(*map(range, sizes)))
    chances: dict[tuple[Any, Any], float] = {}
    # What the others say does not matter to a sum over their reports, so any true answers of theirs will do.
    for true in every:
        if any(true[place] for place in range(len(sizes)) if place not in places):
            continue
        for said in every:
            apart = sum(one != other for one, other in zip(true, said, strict=True))
            key = tuple(true[place] for place in places), tuple(said[place] for place in places)
            chances[key] = chances.get(key, 0.0) + (odds if apart <= mechanism["radius"] else 1.0)
    some = list(product(*(range(sizes[place]) for place in places)))
    found = np.array([[chances[true, said] for said in some] for true in some])
    return found / found.sum(axis=1, keepdims=True)
