"""Estimate by a list experiment (item count technique) the share of a sensitive item from numbers of items that apply.

Design      One random half counts how many of J items apply to them, the other half (treated) how many of these and the
            sensitive one, J + 1. In a double list each half counts two lists, and the sensitive item is in the first
            list of the treated half and in the second list of the others.
Share       Difference in means, mean(treated) - mean(control), with variance s_t^2 / n_t + s_c^2 / n_c. Of a double
            list half the difference in means of D = first - second, which takes in that both counts of a person hang
            together.
Test        With Pr from each half, P(y of the J items, yes) = Pr(Y <= y | control) - Pr(Y <= y | treated) and
            P(y, no) = Pr(Y <= y | treated) - Pr(Y <= y - 1 | control), y = 0 .. J. A share clearly below 0 shows that
            the sensitive item changes answers to the others. For each answer with x its J shares that can be below 0
            (y < J of yes, y > 0 of no) and their covariance C, the statistic is the least (x - t)' C^-1 (x - t) over
            t >= 0, that is the largest -2 m'x - m'C m over m >= 0. With x around 0 it is chi-square with as many
            degrees of freedom as m has numbers above 0 (chi-bar-square; their shares by simulation, antithetic). p is
            twice the smaller of the two (Bonferroni).
Selection   ``p_selected`` leaves out shares x with sqrt(n) x / s > sqrt(ln n), s the standard deviation of the J shares
            among themselves, as ``ict.test(gms = TRUE)`` of the R package list does, its default. That is nearly each
            share above 0, where Andrews and Soares divide by the error of x: p is smaller, and too small where several
            shares are near 0. ``p`` is without selection.
Source      Miller 1984; Blair and Imai 2012 (test of design effects); Andrews and Soares 2010 (selection of moments);
            Droitcour et al. 1991 (double list).

With predictors a list experiment is modelled by maximum likelihood; with a direct question both are combined:

Combined    p is the share of a direct yes, d the difference in means among those who said no: p + (1 - p) d, with
            variance (1 - d)^2 p (1 - p) / (n - 1) + (1 - p)^2 (v_t / n_t + v_c / n_c). It takes a direct yes as true.
Placebo     I: among those who said yes the difference is 1. II: the direct yes is as frequent in both halves, since the
            list cannot change it. Both are two-sided z tests.
Edges       Without predictors a share may be 0 or 1: limits are by profile likelihood then, and nothing has an error.
Source      Blair and Imai 2012; Aronow, Coppock, Crawford and Green 2015.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from statistics import NormalDist, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.data_columns import few_as_missing, whole_numbers, yes_no_codes
from sottovoce.aggregator.analysis.data_file.people_with_predictors import (
    AT_EDGE,
    columns_of,
    mean_share,
    names_in,
    people_with_predictors,
)
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, without_zeros
from sottovoce.aggregator.analysis.regression.likelihood_ratio import profile_limits
from sottovoce.aggregator.analysis.regression.list_logit import ListLogit, highest_peak, ways_of_counts
from sottovoce.aggregator.analysis.regression.newton import Fit, inverse
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, wald_coefficients
from sottovoce.aggregator.estimators.cone import distances, multipliers
from sottovoce.aggregator.estimators.intervals import normal_quantile, upper_tail
from sottovoce.shared.errors import EstimateError, Sentence, SpecError

FEWEST_ITEMS = 2
FIGURES = ("share", "std_error", "low", "high")
FAR = 9.0
"""Log odds from which a share is shown as 0 or 1, if some share is at its edge."""
FEW_ITEMS = "a model needs a list of at least {least} items; see the difference in means"
NO_MAXIMUM = (
    "this list experiment has no finite maximum of the likelihood: the share of the sensitive item could be 0 or 1 "
    "in some group; fit it without predictors (~ 1), where limits of a share end at 0 and 1, or see the difference in "
    "means"
)

Counts = NDArray[np.int64]
Document = dict[str, Any]


def list_model(
    table: FileTable, arm: str, columns: Sequence[str], counts: Counts, arms: Counts, named: Sequence[str], items: int,
    formula: str, confidence: float,
) -> Document:  # fmt: skip
    """Return shares and coefficients by maximum likelihood.

    Args:
        arm: column of the random arms.
        columns: columns of the counts.
        counts: (n,), -1 where there is none.
        arms: (n,), arm with a sensitive item, -1 for the control, -2 for no or another arm.
        named: values of the arms with a sensitive item.
        formula: predictors, such as ``~ south + age``.

    Raises:
        EstimateError: a predictor is unknown, randomized or collinear, or the likelihood has no maximum.
    """
    if items < FEWEST_ITEMS:
        raise EstimateError(FEW_ITEMS, least=FEWEST_ITEMS)
    there = (counts >= 0) & (arms >= -1)
    sample, rows = people_with_predictors(columns_of(table, formula), there, (arm, *columns), formula, confidence)
    model = ListLogit(sample.design.columns, counts[rows], ways_of_counts(items), arms=arms[rows])
    fit = highest_peak(model)
    covariance = inverse(fit.information) if fit.converged else None
    z, size = normal_quantile(confidence), model.shape[1]
    labels = [(None, term.name) for _ in (*named, None) for term in sample.design.terms]
    figures: list[tuple[float | None, ...]] = []
    if covariance is None:
        # A mean share of several groups has no profile here.
        if fit.runs_off is None or size > 1:
            raise EstimateError(NO_MAXIMUM)
        found = tuple(_beside_edge(model, fit, place, label, confidence) for place, label in enumerate(labels))
        for at, one in zip(fit.theta[:-1].tolist(), found[:-1], strict=True):
            low, high = (side * math.inf if end is None else end for side, end in ((-1, one.low), (1, one.high)))
            share, *limits = (
                0.5 + math.tanh(odds / 2) / 2 for odds in (at * math.inf if one.estimate is None else at, low, high)
            )
            figures.append((share, None, *limits))
    else:
        found = wald_coefficients(labels, fit.theta, np.diag(covariance), z)
        for place, each in enumerate(model.sensitive(fit.theta, slice(None))):
            inside = slice(place * size, (place + 1) * size)
            figures.append(mean_share(model, each, (each * (1 - each))[None], covariance[inside, inside], z))
    arms_of = [name for name in (*named, None) for _ in range(size)]
    return {
        "formula": formula,
        "n": len(rows),
        "log_likelihood": fit.log_likelihood,
        "shares": [
            {"treated": name, **dict(zip(FIGURES, each, strict=True))}
            for name, each in zip(named, figures, strict=True)
        ],
        "coefficients": [{"treated": name, **each.as_dict()} for name, each in zip(arms_of, found, strict=True)],
    }


def _beside_edge(model: ListLogit, fit: Fit, place: int, label: tuple[None, str], confidence: float) -> Coefficient:
    """Return log odds by profile likelihood; those that run off have no estimate, and a limit on one side."""
    at = float(fit.theta[place])
    return Coefficient(*label, at if abs(at) < FAR else None, None, *profile_limits(model, fit, place, confidence))


def combined_share(direct: Counts, halves: Counts, scores: NDArray[np.float64], confidence: float) -> Document:
    """Return the share by a list experiment and a direct question of the same people.

    Args:
        direct: (n,), 1 for yes, 0 for no, -1 for people who are left out.
        halves: (n,), 1 with the sensitive item, 0 without.
        scores: (n,), counts; of a double list half their difference.

    Raises:
        EstimateError: fewer than two people of a half said yes, or no, in the direct question.
    """
    known = direct >= 0
    direct, halves, scores = direct[known], halves[known], scores[known]
    parts = [[scores[(direct == answer) & (halves == half)] for half in (0, 1)] for answer in (0, 1)]
    if min(len(each) for pair in parts for each in pair) < 2:
        raise EstimateError("each half needs two people who say yes to the direct question, and two who say no")
    (no, no_error), (yes, yes_error) = (difference_in_means(treated, control) for control, treated in parts)
    p, n = float(direct.mean()), len(direct)
    share = p + (1 - p) * no
    error = math.sqrt((1 - no) ** 2 * p * (1 - p) / (n - 1) + (1 - p) ** 2 * no_error**2)
    apart, spread = difference_in_means(*(direct[halves == half] for half in (1, 0)))
    low, high = limits_of_share(share, normal_quantile(confidence) * error)
    return {
        "n": n,
        "direct": p,
        "among_no": {"difference": no, "std_error": no_error},
        "share": share,
        "std_error": error,
        "low": low,
        "high": high,
        # Counts without spread differ by 1, or surely not.
        "placebo_one": _two_sided((yes - 1) / yes_error) if yes_error else float(yes == 1),
        "placebo_two": _two_sided(apart / spread if spread else 0.0),
    }


def limits_of_share(raw: float, half: float) -> tuple[float | None, float | None]:
    """Return ``raw`` less and plus ``half`` within 0 to 1; None for both if all between them is outside."""
    if raw + half < 0 or raw - half > 1:
        return None, None
    return max(raw - half, 0.0), min(raw + half, 1.0)


def difference_in_means(treated: NDArray[Any], control: NDArray[Any]) -> tuple[float, float]:
    """Return the difference between two halves, and its standard error."""
    return float(treated.mean() - control.mean()), math.hypot(error_of_mean(treated), error_of_mean(control))


def error_of_mean(values: NDArray[Any]) -> float:
    """Return the standard error of the mean of at least two people."""
    return math.sqrt(float(values.var(ddof=1)) / len(values))


def _two_sided(z: float) -> float:
    return 2 * NormalDist().cdf(-abs(z))


LIST_EXPERIMENT = "sottovoce-list-experiment/1"
MOST_ITEMS = 20
FEWEST = 2
"""People needed in each half for a variance."""

WORK = 400_000
"""Draws of chi-bar-square, times the square of their length: the error of p is about .001 for three items."""
OTHER_ARM = -2
CONTROL = ("0", "control")
"""Names of the arm without a sensitive item, where there are several with one."""

SAME_CONTROL = "each arm is compared with the same people of '{control}', so these shares are not independent"
IMPOSSIBLE = (
    "the estimate is impossible, since no share is outside 0 to 1; its limits are outside too, so the sensitive item "
    "changes answers to the others (see the test), or the arms are exchanged"
)
TWO_HALVES = "a double list has two halves, not several sensitive items: name one value of the treated"
ONE_ITEM = "a direct question is combined with one sensitive item: name one value of the treated"
TWO_LISTS = "a double list and a model do not go together: model each list by itself, without the second one"
LARGER = (
    "{file}, column '{variable}': a count is larger than the number of items ({items}); say how many there are without "
    "the sensitive one"
)
SEVERAL_COUNTS = "{file}: a row has counts in several of the columns {names}"
TWO_VALUES = (
    "{file}, column '{variable}': must have two values, one of them '{expected}', or a control, called 0 or control, "
    "beside the arms with a sensitive item"
)
NO_SPREAD = "each half has one value only, so it has no spread and no interval can be computed"
HALVES = "{file}: each half of column '{arm}' needs at least {least} people with a count"
IMPOSSIBLE_BY_CHANCE = (
    "the estimate is impossible, since no share is outside 0 to 1; by chance, or the sensitive item changes answers to "
    "the others (see the test), or the arms are exchanged"
)


def list_experiment(
    table: FileTable, columns: Sequence[Sequence[str]], arm: str, treated: Sequence[str], items: int | None = None,
    confidence: float = 0.95, formula: str | None = None, direct: str | None = None,
) -> Document:  # fmt: skip
    """Estimate the share of people to whom the sensitive item applies; each row of the table is one person.

    Of several sensitive items, each has an arm of its own and is compared with the one control; ``further`` has the
    documents of the second and later ones.

    Args:
        columns: columns of the counts of each list, one, or one for each half; of a double list the second list has the
            sensitive item for the others.
        arm: column of the random halves.
        treated: its value where the (first) list has the sensitive item, or one for each such item; none for 1 or, of
            three or more arms, for all but "0" or "control".
        items: J; None for the largest count of people without the sensitive item.
        confidence: nominal coverage of the limits.
        formula: predictors of a model by maximum likelihood, such as ``~ south``; None for no model.
        direct: column of the answers of yes or no to the direct question, to combine with the list; or None.

    Raises:
        SurveyError: a column is missing, a count is impossible, or a half has fewer than two people, the arms do not
            tell one control, or there is no such model.
    """
    own = [arm, *chain.from_iterable(columns), *([] if direct is None else [direct]), *names_in(formula)]
    table, notes = few_as_missing(table, own)
    control, named = _arms(table, arm, treated)
    if len(named) > 1 and len(columns) > 1:
        raise SpecError(Sentence(TWO_HALVES))
    if len(named) > 1 and direct is not None:
        raise SpecError(Sentence(ONE_ITEM))
    if len(columns) > 1 and formula is not None:
        raise SpecError(Sentence(TWO_LISTS))
    found, *further = (_of_one_arm(table, columns, (arm, each, control), items, confidence, direct) for each in named)
    found["warnings"] += notes
    if formula is not None:
        # Counts of people without an arm are in no model.
        arms = _halves(table, arm, {**{each: place for place, each in enumerate(named)}, control: -1}, OTHER_ARM)
        merged, size = _counts(table, columns[0]), found["lists"][0]["items"]
        found["model"] = list_model(table, arm, columns[0], merged, arms, named, size, formula, confidence)
        if any(each["std_error"] is None for each in found["model"]["shares"]):
            found["warnings"].append(AT_EDGE)
    shared = Sentence(SAME_CONTROL, control=control)
    return {**found, "warnings": [*found["warnings"], shared], "further": further} if further else found


def _of_one_arm(
    table: FileTable, columns: Sequence[Sequence[str]], arms: tuple[str, str, str], items: int | None,
    confidence: float, direct: str | None,
) -> Document:  # fmt: skip
    """Return the document of one sensitive item; ``arms`` are the column, its treated value and its control."""
    arm, treated, control = arms
    known = [_counts(table, names) for names in columns]
    named = [" + ".join(names) for names in columns]
    halves = _halves(table, arm, {treated: 1, control: 0})
    there = (halves >= 0) & np.all([each >= 0 for each in known], axis=0)
    inside = [halves[there] == 1, halves[there] == 0]
    if min(int(each.sum()) for each in inside) < FEWEST:
        raise SpecError(Sentence(HALVES, file=table.file, arm=arm, least=FEWEST))
    lists = []
    for place, (name, each) in enumerate(zip(named, known, strict=True)):
        with_item, without = each[there][inside[place]], each[there][inside[1 - place]]
        most = int(without.max()) if items is None else items
        if int(without.max()) > most or int(with_item.max()) > most + 1:
            raise SpecError(Sentence(LARGER, file=table.file, variable=name, items=most))
        lists.append({"column": name, **_list_document(with_item, without, most, confidence)})
    first, *second = (each[there] for each in known)
    scores = (first - second[0]) / 2 if second else first.astype(float)
    share = _difference(scores[inside[0]], scores[inside[1]], confidence)
    left_out = len(table) - int(there.sum() + (halves == OTHER_ARM).sum())
    found: Document = {
        "format": LIST_EXPERIMENT,
        "file": table.file,
        "treated": treated,
        "n": int(there.sum()),
        "confidence": confidence,
        "share": share,
        "lists": lists,
        "coin_flip": _same_precision(share),
    }
    if direct is not None:
        found["combined"] = combined_share(yes_no_codes(table, direct)[there], halves[there], scores, confidence)
    found["warnings"] = [Sentence("{n} rows without a count or a half are left out", n=left_out)] if left_out else []
    if not 0 <= share["raw"] <= 1:
        found["warnings"].append(IMPOSSIBLE if share["low"] is None else IMPOSSIBLE_BY_CHANCE)
    return found


def _counts(table: FileTable, names: Sequence[str]) -> Counts:
    """Return the counts of a list, -1 where there is none; a question for each arm has counts in its own arm only."""
    known = [whole_numbers(table, name, MOST_ITEMS + 1) for name in names]
    if any(((one >= 0) & (other >= 0)).any() for one, other in combinations(known, 2)):
        raise SpecError(Sentence(SEVERAL_COUNTS, file=table.file, names=", ".join(names)))
    return np.asarray(np.max(known, axis=0))


def _arms(table: FileTable, arm: str, treated: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the value of the control, and those of the arms with a sensitive item."""
    values = table.column(arm).values
    treated = [each if each in values else without_zeros(each) for each in treated]
    expected = treated[0] if treated else "1"
    if not treated:
        others = [each for each in values if each.casefold() not in CONTROL]
        treated = others if 0 < len(others) < len(values) else ["1"]
    rest = [each for each in values if each not in treated]
    controls = rest if len(rest) == 1 else [each for each in rest if each.casefold() in CONTROL]
    if not set(treated) <= set(values) or len(controls) != 1:
        raise SpecError(Sentence(TWO_VALUES, file=table.file, variable=arm, expected=expected))
    return controls[0], list(dict.fromkeys(treated))


def _halves(table: FileTable, arm: str, known: Mapping[str, int], missing: int = -1) -> Counts:
    """Return the known number of each person's arm, ``missing`` for none, -2 for another arm."""
    column = table.columns[arm]
    return np.array([*(known.get(text, OTHER_ARM) for text in column.values), missing], np.int64)[column.rows]


def _difference(treated: NDArray[Any], control: NDArray[Any], confidence: float) -> Document:
    raw, error = difference_in_means(treated, control)
    if error == 0:
        raise SpecError(Sentence(NO_SPREAD))
    # A share outside is none, nor are limits that end before 0 or begin after 1.
    shown = raw if 0 <= raw <= 1 else None
    low, high = limits_of_share(raw, normal_quantile(confidence) * error)
    return {"raw": raw, "shown": shown, "std_error": error, "low": low, "high": high}


def _list_document(treated: Counts, control: Counts, items: int, confidence: float) -> Document:
    halves = {"treated": treated, "control": control}
    return {
        "items": items,
        "means": [
            {"half": name, "n": len(each), "mean": float(each.mean()), "std_error": error_of_mean(each)}
            for name, each in halves.items()
        ],
        "share": _difference(treated, control, confidence),
        "floor": float((control == 0).mean()),
        "ceiling": float((control == items).mean()),
        "joint": list(_joint_shares(treated, control, items)),
        "p": _design_effect(treated, control, items, selected=False),
        "p_selected": _design_effect(treated, control, items, selected=True),
    }  # fmt: skip


def _joint_shares(treated: Counts, control: Counts, items: int) -> Iterator[Document]:
    """Yield P(y, yes) and P(y, no) with the p value of a one-sided test that it is not below 0."""
    for y in range(items + 1):
        for answer, low, high in (("yes", treated <= y, control <= y),
                                  ("no", control < y, treated <= y)):  # fmt: skip
            share = float(high.mean()) - float(low.mean())
            error = math.hypot(*(math.sqrt(float(each.mean() * (1 - each.mean())) / len(each)) for each in (high, low)))
            p = NormalDist().cdf(share / error) if error else float(share >= 0)
            yield {"items": y, "answer": answer, "share": share, "std_error": error, "p": p}


def _design_effect(treated: Counts, control: Counts, items: int, *, selected: bool) -> float:
    """Return p of Blair and Imai's test, with or without selection of moments."""
    most, tests = np.arange(items), []
    without = (control[:, None] <= most).mean(axis=0)
    for no in (0, 1):
        listed = (treated[:, None] <= most + no).mean(axis=0)
        shares = listed - without if no else without - listed
        covariance = _covariance(listed) / len(treated) + _covariance(without) / len(control)
        kept = (shares != 0) & (np.diag(covariance) > 0)
        if selected and len(shares) > 1:
            n = len(treated) + len(control)
            kept &= math.sqrt(n) * shares <= math.sqrt(math.log(n)) * stdev(shares.tolist())
        tests.append(_chi_bar(shares[kept], covariance[np.ix_(kept, kept)]))
    return min(1.0, 2 * min(tests))


def _covariance(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return n times the covariance of cumulative shares."""
    return np.minimum.outer(shares, shares) - np.outer(shares, shares)


def _chi_bar(shares: NDArray[np.float64], covariance: NDArray[np.float64]) -> float:
    """Return P(a distance from t >= 0 at least as large as the one of ``shares`` | all true shares are 0)."""
    if not (shares < 0).any():
        return 1.0
    errors = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(errors, errors)
    z = shares / errors
    [distance] = distances(z[None], correlation).tolist()
    # A fixed seed: the same file has the same p.
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(len(z)), correlation, WORK // len(z) ** 2)
    active = (multipliers(np.concatenate([drawn, -drawn]), correlation) > 0).sum(axis=1)
    return math.fsum(float((active == df).mean()) * upper_tail(distance, df) for df in range(1, len(z) + 1))


def _same_precision(share: Document) -> int | None:
    """Return the people whose coin flips would give the same standard error; None without one or a share."""
    if share["shown"] is None:
        return None
    yes = 0.25 + 0.5 * share["shown"]
    return math.ceil(yes * (1 - yes) / (share["std_error"] / 2) ** 2) if share["std_error"] else None
