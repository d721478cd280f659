"""Estimate the shares of a mixture design, from groups of reports in a file, from counts alone, or of a survey.

Limits and errors are those of ``likelihood``. The closed form solves "mean report of group g = its mean in the model"
and is the maximum itself where it is inside, with as many groups as unknown shares and one draw. With weights, counts
are those of the effective number of reports of each group, rounded, so that errors, limits and the misfit are
approximate: m (1 - m) / v of the linearised variance v = sum w^2 (y - m)^2 / (sum w)^2 of its mean m, or of k draws
likewise; where fewer than 10 effective reports are of one kind, at most Kish's (sum w)^2 / sum w^2, which weights that
go with the answer make wrong.

A survey fields a design as one question in two arms, each with odds of its own. Each question, and each revision that
asks it with other odds, is one group. In ``cheater_detection`` the die and the fact tell a share (1 - t) p to say yes
and (1 - t)(1 - p) to say no, so the model is the symmetric one.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.data_file.data_columns import (
    CHANNEL,
    few_as_missing,
    is_count,
    whole_numbers,
    yes_no_codes,
)
from sottovoce.aggregator.analysis.data_file.people_with_predictors import AT_EDGE, columns_of, names_in
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, without_zeros
from sottovoce.aggregator.analysis.data_file.shares import COMMA, FEW as FEW_OF_A_KIND, weights_of
from sottovoce.aggregator.analysis.documents import COUNTS_ALONE
from sottovoce.aggregator.analysis.mixtures.class_model import with_class_model
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS, KUK, SYMMETRIC, MixtureDesign, MixtureShare, P
from sottovoce.aggregator.analysis.mixtures.likelihood import EDGE, LawOfFew, MixtureLikelihood, share_of
from sottovoce.aggregator.analysis.one_sample_test import FEWEST_EXPECTED
from sottovoce.aggregator.analysis.regression.newton import Array, inverse
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.weights import kish_effect, weight_warnings
from sottovoce.aggregator.estimators.cone import quantile_beside_edges
from sottovoce.aggregator.estimators.intervals import normal_quantile, upper_tail
from sottovoce.aggregator.file_formats.csv_lines import wrong_at
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.channel_text import read_number
from sottovoce.shared.errors import EstimateError, Sentence, SpecError, error_message
from sottovoce.shared.parse_item import CHEATER_DETECTION, UNRELATED_UNKNOWN, PlannedComparison, planned_comparisons
from sottovoce.shared.spec import Question, Survey

MIXTURE = "sottovoce-mixture/1"
# Between a question and the revision since which it has other odds, as a group is named in the document.
LATER = ", revision "
MOST_DRAWS = 100
_CLOSE = 1e-9
FEW, MOST_GROUPS = 20, 3
"""People expected to give some report, below which limits are by the law of all counts, of so many groups at most."""

Document = dict[str, Any]
Probabilities = Mapping[str, Any] | Sequence[Any] | str | Real
"""p by name of the group, in their order, or of the only one; of a symmetric design two numbers for each."""


@dataclass(frozen=True)
class MixtureData:
    """Reports of all groups.

    Attributes:
        groups: p by name of the group, in the order of ``counts``.
        counts: (groups, draws + 1), reports by value; with weights those of the effective number.
        reports: (groups,), number of reports.
    """

    file: str
    groups: Mapping[str, P]
    counts: Array
    reports: NDArray[np.int64]
    warnings: tuple[str, ...] = ()
    deff: float = 1.0

    def __post_init__(self) -> None:
        """Raise EstimateError if a group has no reports."""
        for name, count in zip(self.groups, self.reports.tolist(), strict=True):
            if not count:
                raise EstimateError("group '{name}' has no reports; each p needs a group with reports", name=name)

    @property
    def draws(self) -> int:
        """Number of draws of each person, at least 1."""
        return int(self.counts.shape[1]) - 1

    @property
    def means(self) -> Array:
        """Mean report of each group as a share of the draws, (groups,)."""
        means: Array = self.counts @ np.arange(self.draws + 1) / (self.draws * self.counts.sum(axis=1))
        return means


def grouped_reports(
    file: str, groups: Mapping[str, P], codes: NDArray[np.int64], draws: int = 1, weights: Array | None = None,
    warnings: Sequence[str] = (),
) -> MixtureData:  # fmt: skip
    """Return the reports of all groups from the one of each row.

    Args:
        codes: (n,), place of the group times ``draws`` + 1, and the report; negative where there is none.
        weights: (n,), or None.
    """
    counted, shape = codes >= 0, (len(groups), draws + 1)
    reports = np.bincount(codes[counted], minlength=math.prod(shape)).reshape(shape)
    data = MixtureData(file, groups, reports.astype(float), reports.sum(axis=1), tuple(warnings))
    if weights is None:
        return data
    used = weights[counted]
    sums, squares = (np.bincount(codes[counted], used**power, math.prod(shape)).reshape(shape) for power in (1, 2))
    totals, values = sums.sum(axis=1, keepdims=True), np.arange(shape[1])
    apart = (values - (sums @ values / totals[:, 0])[:, None]) ** 2
    kish, spread = (totals**2)[:, 0] / squares.sum(axis=1), (squares * apart).sum(axis=1)
    size = np.divide((totals * sums * apart).sum(axis=1), spread, out=kish.copy(), where=spread > 0)
    # What few people report does not show how much weights differ among all of them.
    least = np.minimum(kish, size)
    size = np.where(least * (sums / totals).min(axis=1) < FEW_OF_A_KIND, least, size)
    # A whole number, as the law of few counts has: in one of fewer people no yes at all would be less far from a share.
    effective = sums / totals * np.maximum(size.round(), 1)[:, None]
    return replace(data, counts=effective, warnings=(*warnings, *weight_warnings(used)), deff=kish_effect(used))


def mixture_of_file(
    table: FileTable, response: str, group: str | None, design: str, p: Probabilities, draws: int = 1,
    weights: ArrayLike | None = None, confidence: float = 0.95, formula: str | None = None,
) -> Document:  # fmt: skip
    """Estimate the shares of a design from a file with a row for each person.

    Args:
        response: column of reports: yes or no, or the number of red cards.
        group: column of the groups, whose values ``p`` names; None for designs of one sample.
        design: one of ``DESIGNS``.
        draws: cards that each person of Kuk's design reports.
        weights: name of a column of weights, or one number for each row.
        confidence: nominal coverage of the limits.
        formula: predictors of the shares of cheater detection, such as ``~ x``; None for no model.

    Raises:
        SurveyError: a column is missing, a report is outside the design, a group has no rows, the design does not
            identify its shares, or there is no such model.
    """
    given = _groups(design, p, draws)
    if design == KUK and group is not None:
        raise EstimateError("kuk has one sample and two decks, so it does not go with groups: leave the group out")
    if group is None and len(given) > 1:
        raise EstimateError("p is given for several groups: name the column of the groups")
    if f"{response}{CHANNEL}" in table.columns:
        raise EstimateError(OWN_CHANNEL, variable=response, other=f"{response}{CHANNEL}")
    table, few = few_as_missing(table, [response, *([] if group is None else [group]), *names_in(formula)])
    values = whole_numbers(table, response, draws) if design == KUK else yes_no_codes(table, response)
    places = np.zeros(len(table), np.int64) if group is None else _places(table, group, given)
    of_rows = None if weights is None else weights_of(table, weights)
    codes = np.where((values >= 0) & (places >= 0), (draws + 1) * places + values, -1)
    left_out = int((codes < 0).sum())
    notes = [Sentence("{n} rows without a report or a group are left out", n=left_out)] if left_out else []
    found = mixture_document(
        design, grouped_reports(table.file, given, codes, draws, of_rows, [*notes, *few]), confidence
    )
    if formula is None:
        return found
    return with_class_model(found, columns_of(table, formula), (str(group), response), codes, formula, of_rows)


def mixture_of_counts(
    design: str, p: Probabilities, yes: Sequence[int] | int = (), n: Sequence[int] | int = (),
    counts: Mapping[int, int] | None = None, draws: int = 1, confidence: float = 0.95,
) -> Document:  # fmt: skip
    """Estimate the shares of a design from counts alone; raises as ``mixture_of_file``.

    Args:
        yes, n: reports of yes, and all reports, of each group, or of the only one.
        counts: of Kuk's design, people by number of red cards.
    """
    given = _groups(design, p, draws)
    if (design == KUK) != (counts is not None):
        raise EstimateError("counts by number of red cards are for kuk, and yes and n for all other designs")
    yes, n, by_value = _listed(yes), _listed(n), counts or {}
    if any(value not in range(draws + 1) for value in by_value):
        raise EstimateError(f"numbers of red cards go from 0 to {draws}, the number of draws")
    if counts is None and not len(yes) == len(n) == len(given):
        message = f"yes has {len(yes)} numbers, n has {len(n)}, and p names {len(given)} groups"
        raise EstimateError(f"{message}: give one of each for every group")
    if not all(map(is_count, (*yes, *n, *by_value.values()))):
        raise EstimateError("counts must be whole numbers from 0")
    if counts is None and any(some > every for some, every in zip(yes, n, strict=True)):
        raise EstimateError("yes counts some of the reports of n, so it cannot be larger")
    of_groups = [[every - some, some] for some, every in zip(yes, n, strict=True)]
    cells = np.array([[by_value.get(value, 0) for value in range(draws + 1)]] if counts is not None else of_groups)
    data = MixtureData(COUNTS_ALONE, given, cells.astype(float), cells.sum(axis=1))
    return mixture_document(design, data, confidence)


def _groups(design: str, p: Probabilities, draws: int) -> dict[str, P]:
    """Return the numbers of each group, by name, after checking that they identify the shares."""
    if design not in DESIGNS:
        raise EstimateError(f"there is no such design; there are: {', '.join(DESIGNS)}")
    if draws not in range(1, MOST_DRAWS + 1):
        raise EstimateError("draws must be a whole number from 1 to {most}", most=MOST_DRAWS)
    if design != KUK and draws != 1:
        raise EstimateError("draws and {design} do not go together: only kuk has several draws", design=design)
    known = DESIGNS[design]
    named = p if isinstance(p, Mapping) else dict(enumerate(_listed(p), 1))
    given = {str(name): _numbers(str(name), value) for name, value in named.items()}
    if design == KUK and all(len(numbers) == 1 for numbers in given.values()):
        # The two decks may be written as groups are: 1=.6 2=.2.
        given = {"all": tuple(number for numbers in given.values() for number in numbers)}
    needed = len(known.solved)
    if any(len(numbers) != known.numbers for numbers in given.values()) or (design == KUK and len(given) > 1):
        raise EstimateError(_FORMS.get(design, Sentence(ONE_P, design=design)))
    for name, numbers in given.items():
        first, *rest = numbers
        # In a symmetric design b = 0 is the plain one.
        inside = 0 < first < 1 and all(0 <= each < 1 if design == SYMMETRIC else 0 < each < 1 for each in rest)
        if not inside or (design == SYMMETRIC and sum(numbers) >= 1):
            also = "; a + b is below 1, too, and b may be 0" if design == SYMMETRIC else ""
            raise EstimateError("group '{name}': p is a probability above 0 and below 1" + also, name=name)
    if len(given) < needed:
        raise EstimateError(FEW_GROUPS, design=design, needed=needed, count=len(given))
    if np.linalg.matrix_rank(_slopes(known, given), tol=_CLOSE) < needed:
        raise EstimateError(known.not_identified(list(given.values())))
    return given


OWN_CHANNEL = (
    "column '{variable}' has a channel beside it, in '{other}', and a design of its own here: use results estimate for "
    "known channels, or leave that column out"
)
NO_P = (
    "{file}, column '{variable}': {lacking} of its {count} values have no p, which is for {names}: name each group as "
    "it is written in the column"
)
ONE_P = "{design} takes one p for each group, such as 1=1/4 2=3/4"
FEW_GROUPS = "{design} needs at least {needed} groups with p of their own, and p names {count}"
_FORMS = {
    KUK: "kuk takes the p of two decks of one sample, carriers' first, such as 1=0.6 2=0.2",
    SYMMETRIC: "cheater_detection_symmetric takes two numbers for each group, told yes and told no, such as 1=1/4,1/8",
}


def _listed(given: Any) -> list[Any]:  # noqa: ANN401 - one, or several
    return [given] if isinstance(given, str | Real) else list(given)


def _numbers(name: str, value: Any) -> P:  # noqa: ANN401 - text, a number, or several
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    # A first p of 0 has no design.
    if len(parts) > 1 and str(parts[0]).strip() in {"", "0"}:
        raise wrong_at(f"p {name}", COMMA)
    try:
        found = [each if isinstance(each, Fraction) else read_number(str(each).strip(), "p") for each in parts]
    except ValueError as error:
        raise EstimateError(f"group '{name}': {error_message(error)}") from None
    return tuple(map(float, found))


def _means(known: MixtureDesign, given: Mapping[str, P]) -> Array:
    """Return the mean report of each class in each group, (groups, classes)."""
    return np.array([known.mean(numbers) for numbers in given.values()])


def _slopes(known: MixtureDesign, given: Mapping[str, P]) -> Array:
    means = _means(known, given)
    return means[:, list(known.solved)] - means[:, [known.origin]]


def _places(table: FileTable, name: str, given: Mapping[str, P]) -> NDArray[np.int64]:
    """Return the place of each row's group in ``given``, (n,), -1 for none."""
    column = table.column(name)
    order = [each if each in column.values else without_zeros(each) for each in given]
    if lacking := len(set(column.values) - set(order)):
        told = {"variable": name, "lacking": lacking, "count": len(column.values), "names": ", ".join(given)}
        raise SpecError(Sentence(NO_P, file=table.file, **told))
    return np.array([*(order.index(text) for text in column.values), -1], np.int64)[column.rows]


def mixture_document(design: str, data: MixtureData, confidence: float) -> Document:
    """Fit the shares and return them as one JSON object, ``sottovoce-mixture/1``."""
    known, draws = DESIGNS[design], data.draws
    channels = [np.array(known.channel(numbers, draws)) for numbers in data.groups.values()]
    model = MixtureLikelihood(data.counts.reshape(1, -1), np.concatenate(channels, axis=1))
    sizes = data.counts.sum(axis=1)
    first = known.shares[0]
    [at], point = model.maximum(first)
    [x], weights = point.x, np.zeros(len(model.chances))
    for ends, part in ((first.zero, 1 - at), (first.one, at)):
        np.add.at(weights, list(ends), [part * (1 - x), part * x])
    [best], raw = model.log_likelihood(weights @ model.chances), _closed_form(known, data)
    values = {share.name: share_of(share, weights) for share in known.shares}
    at_edge = any(value is None or not EDGE < value < 1 - EDGE for value in values.values())
    fitted = (weights @ model.chances).reshape(data.counts.shape)
    z, law, people = normal_quantile(confidence), None, np.maximum(sizes.round(), 1)
    few = draws == 1 and len(sizes) <= MOST_GROUPS and (people[:, None] * fitted).min() < FEW
    if few and len(sizes) < MOST_GROUPS:
        law = LawOfFew.near(model, fitted[:, 1], people, first, z)
    shares: Document = {}
    for share in known.shares:
        value, error, (low, high) = values[share.name], None, (0.0, 1.0)
        if value is not None:
            if not at_edge:
                error = float(1 / np.sqrt(model.profile(share, np.array([value])).curvature[0]))
            if few and len(sizes) == MOST_GROUPS:
                law = LawOfFew.drawn(model, people, first, share, value, best, z)
            given = model.limits if law is None else law.limits
            fallen = z if law else _quantile(known, data, model, weights, share, z)
            low, high = given(share, value, best, fallen)
        plain = None if raw is None else share_of(share, raw)
        shares[share.name] = {"label": share.label, "share": value, "se": error, "low": low, "high": high, "raw": plain}
    expected = fitted * sizes[:, None]
    told = {name: value for name, value in values.items() if value is not None}
    misfit = _misfit(data.counts, expected, len(known.solved))
    return {
        "format": MIXTURE,
        "file": data.file,
        "design": design,
        "n": int(data.reports.sum()),
        "confidence": confidence,
        "groups": [
            {"name": name, "p": list(data.groups[name]), "n": count, "mean": mean}
            for name, count, mean in zip(data.groups, data.reports.tolist(), data.means.tolist(), strict=True)
        ],
        "shares": shares,
        "log_likelihood": best,
        "misfit": misfit,
        "at_edge": at_edge,
        "bounds": {"low": values["pi"], "high": told["pi"] + told["gamma"]} if "gamma" in told else None,
        "privacy": list(known.privacy([*data.groups.values()], told, draws)),
        "disobedience": known.disobedience,
        "deff": data.deff,
        "warnings": [*data.warnings, *_notes(shares, misfit["statistic"], at_edge, expected, draws)],
    }


def _closed_form(known: MixtureDesign, data: MixtureData) -> Array | None:
    """Return class weights, (classes,), that may lie outside 0 to 1; None with more groups than unknown shares."""
    slopes, means = _slopes(known, data.groups), _means(known, data.groups)
    if len(slopes) != len(known.solved):
        return None
    weights = np.zeros(means.shape[1])
    weights[list(known.solved)] = np.linalg.solve(slopes, data.means - means[:, known.origin])
    weights[known.origin] = 1 - weights.sum()
    return weights


def _quantile(
    known: MixtureDesign, data: MixtureData, model: MixtureLikelihood, weights: Array, share: MixtureShare, z: float
) -> float:  # fmt: skip
    """Return the z of the limits of a share, larger where shares that it depends on may be at their edges."""
    sizes, classes = np.repeat(data.counts.sum(axis=1), data.draws + 1), np.arange(len(weights))
    slopes = model.chances[list(known.solved)] - model.chances[known.origin]
    # A report that the fit holds for impossible would make the shares certain.
    variance = inverse(slopes * (sizes / np.maximum(weights @ model.chances, 1 / sizes)) @ slopes.T)
    inside = np.array([np.isin(classes, some) for some in (*share.ends, *(known.edges or classes[:, None]))], float)
    # The shares of these sets of classes, and their derivatives by those of the solved ones.
    (part, rest, *values), by_solved = inside @ weights, inside[:, list(known.solved)] - inside[:, [known.origin]]
    mean, joint = rest * by_solved[0] - part * by_solved[1], by_solved[1:]
    if variance is None or not mean.any():
        return z
    joint[0] = mean
    own = np.zeros(len(values), bool)
    return quantile_beside_edges(joint, variance, np.array(values), float(data.counts.sum()), z, own)


def _misfit(counts: Array, fitted: Array, unknown: int) -> Document:
    """Return G squared against free shares of each group; no p without a degree of freedom."""
    seen = counts > 0
    statistic = max(0.0, float(2 * (counts[seen] * np.log(counts[seen] / fitted[seen])).sum()))
    df = counts.shape[0] * (counts.shape[1] - 1) - unknown
    return {"statistic": statistic, "df": df, "p": upper_tail(statistic, df) if df else None}


def _notes(shares: Document, misfit: float, at_edge: bool, fitted: Array, draws: int) -> Iterator[str]:
    closed = {name: one["raw"] for name, one in shares.items() if one["raw"] is not None}
    outside = {name: value for name, value in closed.items() if not -EDGE <= value <= 1 + EDGE}
    if outside:
        listed = ", ".join(f"{name} {value:.4f}" for name, value in outside.items())
        yield Sentence(
            "the closed form is outside 0 to 1 ({values}): shown is the maximum of the likelihood at the edge, where G "
            "squared against free shares of each group is {misfit}",
            values=listed,
            misfit=f"{misfit:.3f}",
        )
    elif draws > 1:
        pi = f"{shares['pi']['raw']:.4f}"
        yield Sentence("the moment estimate, by the mean number of red cards, is {value}", value=pi)
    if at_edge:
        yield AT_EDGE
    if any(one["share"] is None for one in shares.values()):
        yield "without carriers there is no share of truthful ones"
    if draws > 1 and float(fitted.min()) < FEWEST_EXPECTED:
        yield "fewer than 5 people are expected with some number of red cards, so the p of the misfit is approximate"


NO_DESIGN = "'{variable}' is in no design of the survey's analysis_plan: name a question of one"
_ALONE = {
    CHEATER_DETECTION: "'{variable}' by itself takes everybody to do as instructed: people who always say no make its "
    "share too low; the planned design has a share of them",
    UNRELATED_UNKNOWN: "'{variable}' by itself takes the stated share of yes to the second question; the planned "
    "design estimates that share",
}
OTHER_STATEMENT = (
    "a correction changed the second statement and its chance, which mixes two unknown shares: download the files "
    "and analyze the reports of each revision"
)
OWN_FACT = "Epsilon holds as long as no one who sees a report knows the fact or the die that hides it"


def designs_in_words(survey: Survey, words: Words, name: str = "", named: Callable[[str], str] = str) -> list[str]:
    """Return what each design of the survey's plan, or each one of a question, estimates and for whom epsilon holds.

    ``named``: gives the name of a question in the sentence.
    """
    return [
        words.translate(f"planned_{each.design}", question=named(each.question), against=named(each.against))
        for each in _designs(survey, name)
    ]


def _designs(survey: Survey, name: str) -> list[PlannedComparison]:
    """Return the designs in which a question stands; all for no name."""
    planned = (each for each in planned_comparisons(survey) if each.design)
    return [each for each in planned if not name or name in (each.question, each.against)]


def notes_alone(survey: Survey, names: Iterable[str]) -> list[Sentence]:
    """Return what the figures of a question by itself take for granted, where the question stands in a design."""
    asked = ((name, each) for name in dict.fromkeys(names) for each in _designs(survey, name))
    return [Sentence(_ALONE[each.design], variable=name) for name, each in asked]


def design_of(survey: Survey, name: str) -> PlannedComparison:
    """Return the design in which a question stands; raise EstimateError if there is none."""
    if not (found := _designs(survey, name)):
        raise EstimateError(Sentence(NO_DESIGN, variable=name))
    return found[0]


def model_of(design: str) -> str:
    """Return the key of ``DESIGNS`` of a fielded design."""
    return SYMMETRIC if design == CHEATER_DETECTION else design


def odds_of(question: Question, design: str) -> P:
    """Return the p of a question's group."""
    made = question.by_fact
    if made is None:
        raise TypeError(question.name)
    return (float(made.b), float(1 - made.a)) if design == CHEATER_DETECTION else (float(made.truth),)


def fielded_document(columns: Columns, name: str, confidence: float, formula: str | None = None) -> Document:
    """Return the shares of the design of a question as one JSON object, ``sottovoce-mixture/1``.

    Raises EstimateError if the question is in no design, one of its two questions has no reports, or ``formula``, which
    names public predictors of cheater detection, has no model.
    """
    planned = design_of(columns.survey, name)
    groups: dict[str, P] = {}
    statements = set()
    codes = np.full(len(columns), -1, np.int64)
    for asked in (planned.question, planned.against):
        places: dict[P, int] = {}
        for number in range(len(columns.revisions)):
            question, rows = columns.question(asked, number), columns.asked(asked) & (columns.revision == number)
            if question is not None and rows.any():
                p = odds_of(question, planned.design)
                statements.add(question.by_fact and question.by_fact.label.get(columns.survey.default_language))
                if p not in places:
                    groups[f"{asked}{LATER}{columns.revisions[number].revision}" if places else asked] = p
                    places[p] = len(groups) - 1
                codes[rows] = 2 * places[p] + columns.values[asked][rows]
        if not places:
            raise EstimateError(Sentence("no report contains '{variable}'", variable=asked))
    if planned.design == UNRELATED_UNKNOWN and len(statements) > 1 and len(groups) > 2:
        raise EstimateError(OTHER_STATEMENT)
    data = grouped_reports(columns.survey.name, groups, codes)
    found = mixture_document(model_of(planned.design), data, confidence)
    found["privacy"].append(OWN_FACT)
    if formula is None:
        return found
    return with_class_model(found, columns, (planned.question, planned.against, ARM), codes, formula)
