"""A second way to every figure: likelihood over (group, answer) cells, from the integers of the survey file.

It imports nothing of the product but the survey, of which it reads the canonical document. Points are maxima of its own
likelihood; limits are the points where a named criterion has its value:

score       |num - t den| = z sqrt(V(t) / n) + half a report, V under the hypothesis t, n Kish's of the group's weights
inversion   Q(t)^2 = z^2 var Q(t), from the sample; under the hypothesis where Kish's n of a cell is below 25
mover       square-and-add of the limits of two independent shares
likelihood  2 (maximum - profile) = z^2
delta       estimate +- z times the linearised error
waves       (t - point)^2 = (own limit - point)^2 + z^2 (waves - 1) var(t) / n, in tables of waves of the same people
An innocuous share with an error s is one parameter for each fact: it adds (s d figure / d share)^2 to a variance.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sottovoce.shared.spec import Survey

from tests.meetings.channels import Channel, Floats, block_channel, channel

Limits = tuple[float, float]
Z = 1.959963984540054
TURNS = np.radians(range(-84, 85, 7))
NOT_ASKED, ENOUGH, FEW = -1, 25, 5


@dataclass(frozen=True)
class Figure:
    """A figure and its criterion; None for what the reference does not know."""

    point: float | None
    error: float | None = None
    low: float | None = None
    high: float | None = None


def likeliest(chances: Floats, counts: Floats, rounds: int = 20_000) -> Floats:
    """The shares of true answers that make the reports likeliest, (k,): by EM; of yes or no by the score's sign."""
    seen = counts > 0
    chances, counts = chances[:, seen], counts[seen] / counts.sum()
    if len(chances) == 2:

        def rises(p: float) -> bool:
            p = min(max(p, 1e-12), 1 - 1e-12)
            return bool((counts * (chances[1] - chances[0]) / ((1 - p) * chances[0] + p * chances[1])).sum() > 0)

        yes = edge(rises, 0.0, 1.0) if rises(0.0) else 0.0
        return np.array([1 - yes, yes])
    shares = np.full(len(chances), 1 / len(chances))
    for _ in range(rounds):
        moved = shares * (chances @ (counts / (shares @ chances)))
        if np.abs(moved - shares).max() < 1e-11:
            break
        shares = moved
    return shares


def edge(inside: Callable[[float], bool], within: float, outside: float) -> float:
    """Where a set that holds ``within`` ends on the way to ``outside``."""
    if inside(outside):
        return outside
    for _ in range(60):
        middle = (within + outside) / 2
        within, outside = (middle, outside) if inside(middle) else (within, middle)
    return within


@dataclass(frozen=True)
class Group:
    """Reports of one question by some people: their columns and weights, of ``reports`` in the whole table."""

    channel: Channel
    columns: Floats
    weights: Floats
    waves: float = 1.0
    reports: int = 0

    @cached_property
    def counts(self) -> Floats:
        """Weighted numbers of the reported columns, (m,)."""
        return np.bincount(self.columns, self.weights, self.channel.chances.shape[1])

    @property
    def kish(self) -> float:
        """The number of equally weighted reports that say as much."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    @cached_property
    def raw(self) -> Floats:
        """Unbiased shares of the true answers, (k,)."""
        return self.channel.scores @ self.counts / self.weights.sum()

    @cached_property
    def interior(self) -> bool:
        """Whether moments and likelihood must agree, up to the clip of a yes or no."""
        return len(self.raw) == 2 or bool(self.raw.min() > 0)

    def likeliest_share(self, answer: int) -> float:
        """The share of an answer among those who gave one, where the likelihood is largest; of sets, which have more
        columns than true answers, the product's estimator is the moments', another one.
        """
        shares = likeliest(self.channel.chances, self.counts) if self.channel.is_square else self.raw
        return float(shares[answer] / shares[: self.channel.answered].sum())

    def share(self, answer: int) -> Figure:
        answered = self.channel.answered
        if not len(self.columns):
            return Figure(None)
        part, whole = float(self.raw[answer]), float(self.raw[:answered].sum())
        if whole <= 0 or not self.interior:
            return Figure(None)
        own = self.channel.scores[answer] - part / whole * self.channel.scores[:answered].sum(axis=0)
        spread = float((self.weights**2 * own[self.columns] ** 2).sum()) / (self.weights.sum() * whole) ** 2
        t, n = min(max(part / whole, 0.0), 1.0), self.reports or len(self.columns)
        error = math.sqrt(spread * n / (n - 1) + self.repeated(t))
        slope = self.slope(lambda group: float(group.raw[answer] / group.raw[:answered].sum()))
        limits = profiled(self.channel, lambda made, z: replace(self, channel=made).score(answer, z))
        return Figure(self.likeliest_share(answer), math.hypot(error, slope), *limits)

    def repeated(self, share: float) -> float:
        """The variance that other waves of the same people add to a share."""
        return (self.waves - 1) * share * (1 - share) / len(self.columns)

    def score(self, answer: int, z: float) -> tuple[float, float]:
        """Score limits of an answer's share."""
        part, whole = float(self.raw[answer]), max(float(self.raw[: self.channel.answered].sum()), 1e-12)
        scores, chances, answered = self.channel.scores, self.channel.chances, self.channel.answered
        table = np.maximum(self.raw, 0.0) / np.maximum(self.raw, 0.0).sum()
        own = min(max(part, 0.0), whole)
        step = float(np.ptp(scores[answer])) / 2 / self.kish

        def inside(t: float) -> bool:
            score = scores[answer] - t * scores[:answered].sum(axis=0)
            changed, block = table.copy(), table[:answered].sum()
            others = block - table[answer]
            rest = changed[:answered] * block / others if others > 0 else block / (answered - 1)
            changed[:answered] = (1 - t) * rest
            changed[answer] = t * block
            variance = float(changed @ chances @ score**2) + (self.waves - 1) * block * t * (1 - t)
            return abs(own - t * whole) <= z * math.sqrt(max(variance, 0.0) / self.kish) + step

        return edge(inside, own / whole, 0.0), edge(inside, own / whole, 1.0)

    def slope(self, figure: Callable[["Group"], float]) -> float:
        """The error that the fact adds to a figure: its own error times the figure's derivative."""
        if self.channel.fact is None or not self.channel.fact[2]:
            return 0.0
        exact = replace(self.channel, fact=(*self.channel.fact[:2], 0.0))
        up, down = (figure(replace(self, channel=exact.moved(by))) for by in (1e-4, -1e-4))
        return self.channel.fact[2] * (up - down) / 2e-4


def profiled(made: Channel, limits: Callable[[Channel, float], Limits]) -> Limits:
    """Limits joined over all shares of the fact, u errors away, at sqrt(z^2 - u^2): a profile over its prior."""
    if made.fact is None or not made.fact[2]:
        return limits(made, Z)
    found = [limits(made.moved(made.fact[2] * Z * math.sin(t)), Z * math.cos(t)) for t in TURNS]
    low, high = zip(*found, strict=True)
    return -farthest([-each for each in low]), farthest(high)


def farthest(values: Sequence[float], ends: Sequence[float] = (-1.0, 0.0, 1.0)) -> float:
    """The largest value between equal steps, by the parabola through three, up to what no share changes."""
    place = max(range(len(values)), key=values.__getitem__)
    before, top, after = (values[min(max(place + step, 0), len(values) - 1)] for step in (-1, 0, 1))
    if max(before, after) >= top:
        return top
    far = top + (before - after) ** 2 / (8 * (2 * top - before - after))
    return next((end for end in ends if top <= end < far), far)


def fieller(h: Floats, weights: Floats, point: float, z: float) -> Limits:
    """Limits by inversion of a difference, from the means of ``h`` = (z0 z, z1 z, z0 r, z1 r), (n, 4)."""
    n, total = len(h), weights.sum()
    m0, m1, g0, g1 = means = weights @ h / total
    centred = weights[:, None] * (h - means)
    covariance = centred.T @ centred / total**2 * n / (n - 1)

    def inside(t: float) -> bool:
        gradient = np.array([-g1, g0, m1 - t * g1, -m0 - t * g0])
        return bool((m1 * g0 - m0 * g1 - t * g1 * g0) ** 2 <= z**2 * (gradient @ covariance @ gradient))

    start = min(max(point, -1.0), 1.0)
    return edge(inside, start, -1.0), edge(inside, start, 1.0)


def sparse(made: Channel, answer: int, columns: Floats, groups: Sequence[Floats], weights: Floats, q: float) -> Limits:
    """Limits of a difference of two public groups at the quantile q, with the variance under the hypothesis."""
    z = made.scores[answer][columns]
    inside = (groups[0] + groups[1]) > 0
    weights, z, later = weights[inside], z[inside], groups[1][inside]
    a, b = (min(max(float(weights @ each / weights.sum()), 0.0), 1.0) for each in (later, z))
    both = min(max(float(weights @ (later * z) / weights.sum()), a + b - 1, 0.0), a, b)
    kish = weights.sum() ** 2 / (weights**2).sum()
    heavy = [kish / weights.sum() * (weights**2 @ of) / max(weights @ of, 1e-12) for of in (1 - later, later)]
    others = np.delete(made.chances, answer, axis=0)[0]

    def within(t: float) -> bool:
        possible = min(max(a * b + t * a * (1 - a), a + b - 1, 0.0), a, b)
        v, w = -b - t * (1 - 2 * a), -a
        truth = ((1, 1, possible), (1, 0, a - possible), (0, 1, b - possible), (0, 0, 1 - a - b + possible))
        mean = possible + v * a + w * b
        squares = sum(share * heavy[group] * float((made.chances[answer] if true else others) @ (
            (group + w) * made.scores[answer] + v * group - mean) ** 2) for group, true, share in truth)  # fmt: skip
        return (both - a * b - t * a * (1 - a)) ** 2 <= q**2 * squares / kish

    start = both / a - (b - both) / (1 - a) if 0 < a < 1 else 0.0
    return edge(within, start, -1.0), edge(within, start, 1.0)


def mover(first: Figure, later: Figure) -> Figure:
    """The difference of two independent shares."""
    apart = later.point - first.point
    low = apart - math.hypot(later.point - later.low, first.high - first.point)
    high = apart + math.hypot(later.high - later.point, first.point - first.low)
    return Figure(apart, math.hypot(first.error, later.error), low, high)


class Reference:
    """Figures of reports (n, questions), NOT_ASKED where none, with weights, of people with so many waves each."""

    def __init__(self, survey: Survey, rows: Floats, weights: Floats | None = None, waves: float = 1.0) -> None:
        document = json.loads(survey.canonical)
        self.weights = np.ones(len(rows)) if weights is None else weights
        self.waves, self.channels, self.asked_if, self.blocks = waves, {}, {}, {}
        for item in document["questions"]:
            asked = item.get("items", [item])
            for place, question in enumerate(asked):
                name = question["name"]
                self.asked_if[name] = item.get("visible_if", {})
                if "block" in item:
                    sizes = [len(each.get("choices", "ny")) for each in asked]
                    chances = block_channel(sizes, item["mechanism"], [place])
                    names = tuple(each["name"] for each in question.get("choices", [])) or ("no", "yes")
                    self.channels[name] = Channel(names, tuple(range(len(names))), chances, len(names))
                    self.blocks[name] = (sizes, item["mechanism"], place)
                elif question["type"] in {"boolean", "select_one", "rating"}:
                    self.channels[name] = channel(question)
        if "arms" in document:
            names = tuple(each["name"] for each in document["arms"])
            self.channels["arm"] = Channel(names, tuple(range(len(names))), np.eye(len(names)), len(names), public=True)
            self.asked_if["arm"] = {}
        self.rows = {each.name: rows[:, place] for place, each in enumerate(survey.questions)}

    def described(self, *names: str) -> Floats:
        """Rows of the people who were asked all of these, as far as public answers tell."""
        found = np.ones(len(self.weights), bool)
        for name in names:
            found &= self.rows[name] != NOT_ASKED
            shown = np.ones(len(self.weights), bool)
            for other, allowed in self.asked_if[name].items():
                if self.channels[other].public:
                    shown &= np.isin(self.rows[other], [self.channels[other].names.index(one) for one in allowed])
            # A group of fewer than five would follow from a difference, so nobody is left out then.
            there = shown[self.rows[name] != NOT_ASKED]
            if min(there.sum(), (~there).sum()) >= FEW:
                found &= shown
        return found

    def grouped(self, outcome: str, *groups: str, others: int = 1) -> Floats:
        """Rows of the people described who are in no small public group, where so many other groups are left."""
        found, before = self.described(outcome, *groups), -1
        while before != (before := int(found.sum())):
            for name in groups:
                sizes = np.bincount(self.codes(name, found), minlength=len(self.channels[name].names))
                few = np.flatnonzero((sizes > 0) & (sizes < FEW))
                if self.channels[name].public > self.channels[outcome].public and (sizes >= FEW).sum() >= others:
                    found &= ~np.isin(self.rows[name], [self.channels[name].values[place] for place in few])
        return found

    def paired(self, first: str, second: str) -> Floats:
        """Rows of a table of two questions: without the small groups of the one that is public, beside another."""
        return self.grouped(*((first, second) if self.channels[second].public else (second, first)))

    def codes(self, name: str, rows: Floats) -> Floats:
        return np.searchsorted(self.channels[name].values, self.rows[name][rows])

    def group(self, name: str, rows: Floats) -> Group:
        return Group(self.channels[name], self.codes(name, rows), self.weights[rows], self.waves)

    def share(self, name: str, answer: str, within: dict[str, str] | None = None) -> tuple[Figure, int]:
        """The share of an answer, within public groups, and n."""
        rows = self.grouped(name, *(within or {}))
        n = int(rows.sum())
        for other, category in (within or {}).items():
            rows = rows & (self.rows[other] == self.channels[other].names.index(category))
        group, place = replace(self.group(name, rows), reports=n), self.channels[name].names.index(answer)
        return group.share(place), int(rows.sum())

    def difference(self, name: str, answer: str, by: str, groups: tuple[str, str]) -> Figure:
        """The share of an answer in the second public group less that in the first."""
        figures = [self.share(name, answer, {by: group})[0] for group in groups]
        if any(each.point is None for each in figures):
            return Figure(None)
        # What is printed beside two shares agrees with them.
        first, later = (min(max(each.point or 0.0, 0.0), 1.0) for each in figures)
        made, shown = self.channels[name], later - first
        rows, place = self.grouped(name, by), made.names.index(answer)
        held = [rows & (self.rows[by] == self.channels[by].names.index(group)) for group in groups]

        def apart(group: Group) -> float:
            parts = [Group(group.channel, self.codes(name, inside), self.weights[inside]).raw for inside in held]
            return float(np.subtract(*(part[place] / part[: made.answered].sum() for part in reversed(parts))))

        parts = [replace(self.exact(name, each), reports=int(rows.sum()), waves=1.0) for each in held]
        error, added = (math.hypot(*each) for each in zip(*(
            (part.share(place).error or 0.0, self.added(part, place)) for part in parts), strict=True))  # fmt: skip
        point, shared = apart(whole := self.group(name, rows)), whole.slope(apart)
        is_public = np.array_equal(made.chances, np.eye(len(made.chances)))
        if made.answered < len(made.names) or is_public:
            return replace(mover(*figures), point=shown)
        columns, weights = self.codes(name, rows), self.weights[rows]
        mine = [inside[rows].astype(float) for inside in held]
        supports = weights * (made.scores[place][columns] > 0)
        cells = [each * some for each in mine for some in (supports, weights - supports)]
        few = min(float(cell.sum() ** 2 / max(cell @ cell, 1e-12)) for cell in cells) < ENOUGH

        def limits(moved: Channel, z: float) -> Limits:
            if few:
                return sparse(moved, place, columns, mine, weights, z)
            score = moved.scores[place][columns]
            h = np.column_stack([mine[0] * score, mine[1] * score, mine[0], mine[1]])
            at = float(np.subtract(*(weights @ h[:, each] / (weights @ h[:, each + 2]) for each in (1, 0))))
            return fieller(h, weights, at, z)

        low, high = profiled(made, limits)
        if self.waves > 1:
            low, high = point - math.hypot(point - low, Z * added), point + math.hypot(high - point, Z * added)
        low, high = max(min(low, shown), -1.0), min(max(high, shown), 1.0)
        return Figure(shown, math.hypot(error, shared, added), low, high)

    def added(self, group: Group, answer: int) -> float:
        """The error that waves of the same people add, of a share half a person away from 0 and 1 at least."""
        half = min(self.waves / len(group.columns), 1.0) / 2
        share = min(max(float(group.raw[answer]), half), 1 - half)
        return math.sqrt(replace(group, waves=self.waves).repeated(share))

    def exact(self, name: str, rows: Floats) -> Group:
        """The same reports as if the innocuous share were known exactly."""
        group = self.group(name, rows)
        fact = group.channel.fact
        return group if fact is None else replace(group, channel=replace(group.channel, fact=(*fact[:2], 0.0)))

    def joint(self, first: str, second: str) -> tuple[Floats, Floats]:
        """P(reported | true) of two questions, and the weighted numbers of their reports."""
        rows, one, other = self.paired(first, second), self.channels[first], self.channels[second]
        width = len(other.values)
        codes = self.codes(first, rows) * width + self.codes(second, rows)
        counts = np.bincount(codes, self.weights[rows], len(one.values) * width)
        if first in self.blocks and second in self.blocks:
            sizes, mechanism, place = self.blocks[first]
            return block_channel(sizes, mechanism, [place, self.blocks[second][2]]), counts
        return np.kron(one.chances, other.chances), counts

    def table(self, first: str, second: str) -> tuple[Floats, Floats, int]:
        """Likeliest and unbiased shares of the answered cells of two questions, (rows, columns), and n."""
        rows, one, other = self.paired(first, second), self.channels[first], self.channels[second]
        chances, counts = self.joint(first, second)
        shape, cut = (len(one.names), len(other.names)), (slice(one.answered), slice(other.answered))
        weighed = chances / chances.sum(axis=0)
        raw = np.linalg.solve(weighed @ chances.T, weighed @ counts / counts.sum()).reshape(shape)
        best = likeliest(chances, counts).reshape(shape)
        return best[cut] / best[cut].sum(), raw[cut] / raw[cut].sum(), int(rows.sum())

    def cell(self, raw: Floats, pair: tuple[str, str], place: tuple[int, int]) -> tuple[float, float]:
        """Score limits of a cell of two questions that everybody answers, given the unbiased table."""
        n, parts = int(self.paired(*pair).sum()), []
        for name, at in zip(pair, place, strict=True):
            made = self.channels[name]
            squares = made.chances @ made.scores[at] ** 2
            parts.append((squares[at], np.delete(squares, at)[0], float(np.ptp(made.scores[at]))))
        (in_row, off_row, one), (in_column, off_column, other) = parts
        p, q = (min(max(float(each), 0.0), 1.0) for each in (raw.sum(axis=1)[place[0]], raw.sum(axis=0)[place[1]]))
        point = min(max(float(raw[place]), 0.0), 1.0)

        def inside(t: float) -> bool:
            row, column = max(p, t), max(q, t)
            variance = (t * in_row * in_column + (row - t) * in_row * off_column + (column - t) * off_row * in_column
                        + (1 - row - column + t) * off_row * off_column - t * t)  # fmt: skip
            variance += (self.waves - 1) * t * (1 - t)
            return abs(point - t) <= Z * math.sqrt(max(variance, 0.0) / n) + one * other / (2 * n)

        return edge(inside, point, 0.0), edge(inside, point, 1.0)

    def profile(self, first: str, second: str, ratio: float) -> float:
        """Twice the log-likelihood that two yes/no questions lose if their odds ratio is this one (EM)."""
        chances, counts = self.joint(first, second)

        def log_likelihood(table: Floats) -> float:
            return float(counts[counts > 0] @ np.log((table @ chances)[counts > 0]))

        best = table = likeliest(chances, counts)
        for _ in range(3000):
            before, expected = table, table * (chances @ (counts / (table @ chances))) / counts.sum()
            p, q = expected[2] + expected[3], expected[1] + expected[3]
            b = 1 + (ratio - 1) * (p + q)
            root = math.sqrt(max(b * b - 4 * ratio * (ratio - 1) * p * q, 0.0))
            both = p * q if abs(ratio - 1) < 1e-9 else (b - root) / (2 * (ratio - 1))
            table = np.maximum([1 - p - q + both, q - both, p - both, both], 1e-15)
            if np.abs(table - before).max() < 1e-10:
                break
        return 2 * (log_likelihood(best) - log_likelihood(table))

    def independence(self, first: str, second: str) -> tuple[float, int]:
        """(n - 1) times Pillai's trace of the scores, and n; of several waves over the mean factor of variances."""
        rows = self.paired(first, second)
        parts = [self.channels[name].scores[:-1].T[self.codes(name, rows)] for name in (first, second)]
        a, b = (part - part.mean(axis=0) for part in parts)
        cross = a.T @ b
        inverses = [np.linalg.pinv(part.T @ part, rcond=1e-9) for part in (a, b)]
        trace = np.trace(inverses[0] @ cross @ inverses[1] @ cross.T)
        people = [(raw * (1 - raw)).clip(0).sum() for raw in (self.group(name, rows).raw for name in (first, second))]
        whole = [self.channels[name].scores.T[self.codes(name, rows)].var(axis=0).sum() for name in (first, second)]
        alike = math.prod(one / max(one, other) for one, other in zip(people, whole, strict=True))
        return float((rows.sum() - 1) * trace / (1 + (self.waves - 1) * alike)), int(rows.sum())

    def exact_p(self, name: str, yes: float) -> float:
        """Binomial p of a known share of yes, through the channel: two-sided, but for the shares 0 and 1."""
        group = self.group(name, self.described(name))
        n, count = len(group.columns), int(group.counts[1])
        chance = float(np.array([1 - yes, yes]) @ group.channel.chances[:, 1])
        if chance in {0.0, 1.0}:
            return float(count == n * chance)
        # Nothing lies beyond the shares 0 and 1, so that they have one side.
        side = {0: range(count, n + 1), 1: range(count + 1)}.get(yes)
        logs = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
                + k * math.log(chance) + (n - k) * math.log1p(-chance) for k in range(n + 1)]  # fmt: skip
        counted = side or [k for k in range(n + 1) if logs[k] <= logs[count] + 1e-7]
        return min(1.0, math.fsum(math.exp(logs[k]) for k in counted))
