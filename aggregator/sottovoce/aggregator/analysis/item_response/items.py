"""Connect several yes/no questions of each person: Rasch and 2PL models, and the distribution of their sum.

Sum         How many of J answers are yes: shares of all 2^J combinations by maximum likelihood on the product of the
            channels, added up by their number of yes. The product acts on the first and the other half of the items
            one after the other, so that a step takes 2^(3J/2) products instead of 4^J, and 12 items take seconds.
            Mean and variance come from the products of scores, unbiased but where they are clipped to what is possible.
            Limits of the mean are Wilson's on the range of totals that reports can give, with the effective number of
            reports, so that they hold near 0 and J, too.
People      No score of a single person is ever computed: reports exist to prevent such guesses.
"""

import math
from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.innocuous_shares import facts_of
from sottovoce.aggregator.analysis.regression.newton import Array, Fit
from sottovoce.aggregator.analysis.regression.person_model import PersonModel, ratio_test, settled, spread, spread_test
from sottovoce.aggregator.analysis.report_columns import Answers, Columns, answers_of
from sottovoce.aggregator.analysis.tables.ml_table import FLOOR, SETTLED, climb
from sottovoce.aggregator.estimators.intervals import normal_quantile, wilson
from sottovoce.aggregator.estimators.question_variables import check_pair
from sottovoce.shared.errors import EstimateError, Sentence

ITEMS = "sottovoce-items/1"
RASCH, TWO_PARAMETERS, SUM = "rasch", "2pl", "sum"
MODELS = (RASCH, TWO_PARAMETERS, SUM)
FEWEST = {RASCH: 2, TWO_PARAMETERS: 3, SUM: 2}
MOST = {RASCH: 20, TWO_PARAMETERS: 20, SUM: 12}
ROUNDING = 1e-9

NUMBER = "the model '{model}' takes {least} to {most} items"
TWO_ANSWERS = "'{variable}' has other answers than yes and no; items have two"
ONE_ANSWER = "'{variable}' has one answer only, the same for all people; items have two: leave it out"
IN_BLOCK = "'{variable}' was randomized together with other questions, so its reports depend on theirs; leave it out"
PUBLIC = "'{variable}' is public, and several items of a survey would tell exact counts of its answers; leave it out"
CONDITIONAL = "'{variable}' is not shown to everybody, so its answers go with the ones before it; leave it out"
UNCERTAIN = "several items and an innocuous share that has a standard error do not go together; leave such items out"
ONE_WAVE = "several items are of the people of one wave: reports of waves are not linked; choose one wave"
NO_MAXIMUM = (
    "this model has no finite maximum: an item has nearly no yes or no, or noise hides how items go together; leave an "
    "item out, or choose the simplest model: number of yes (sum)"
)

YES_NO = ("no", "yes"), ("0", "1")
AS_YES = "'{variable}': '{category}' counts as yes"
NO_LIMIT = "where a limit is missing, the reports allow any value on that side, or the limit cannot be computed"

Document = dict[str, Any]


def items_document(columns: Columns, names: Sequence[str], model: str, confidence: float = 0.95) -> Document:
    """Fit a model of several yes/no questions and return it as one JSON object, ``sottovoce-items/1``.

    Args:
        names: yes/no questions, public or randomized, each by itself.
        model: one of ``MODELS``.

    Raises:
        EstimateError: there is no such model or question, or the reports have no such model.
    """
    if model not in MODELS:
        raise EstimateError("the model must be one of: {known}", known=", ".join(MODELS))
    if not FEWEST[model] <= len(names) <= MOST[model]:
        raise EstimateError(NUMBER, model=model, least=str(FEWEST[model]), most=str(MOST[model]))
    answers = [answers_of(columns, name) for name in names]
    for one, other in combinations(answers, 2):
        check_pair(one.variable, other.variable)
    if facts_of(columns, names):
        raise EstimateError(UNCERTAIN)
    if columns.repeats > 1:
        raise EstimateError(ONE_WAVE)
    for each in answers:
        refusals = {
            # Noise protects no public answer, and a sum or a model of few items tells exact counts.
            PUBLIC: columns.least and each.variable.public,
            CONDITIONAL: each.variable.question in columns.survey.conditional,
            ONE_ANSWER: len(each.variable.categories) == 1,
            TWO_ANSWERS: len(each.variable.categories) != 2,
            IN_BLOCK: each.variable.block is not None,
        }
        for reason in (reason for reason, is_so in refusals.items() if is_so):
            raise EstimateError(reason, variable=each.name)
    body = _sum(answers, confidence) if model == SUM else _traits(answers, model, confidence)
    limited = [each.get("discrimination") for each in body.get("items", ())] + [body.get("sd")]
    missing = any(each and None in (each["low"], each["high"]) for each in limited)
    coded = [Sentence(AS_YES, variable=each.name, category=each.variable.categories[1]) for each in answers
             if tuple(each.variable.categories) not in YES_NO]  # fmt: skip
    head = {"format": ITEMS, "file": columns.survey.name, "model": model, "confidence": confidence}
    return {**head, **body, "warnings": coded + [NO_LIMIT] * missing}


def _combinations(answers: Sequence[Answers], whole: bool) -> tuple[Array, Array]:
    """Return the likelihood of each different combination of reports, (items, m, 2), and its people, (m,)."""
    codes = np.stack([np.where(each.observed, each.codes, -1) for each in answers])
    seen = (codes >= 0).all(axis=0) if whole else (codes >= 0).any(axis=0)
    different, people = np.unique(codes[:, seen], axis=1, return_counts=True)
    # A missing report has the last row, of ones.
    known = [np.append(each.likelihood, [[1, 1]], axis=0)[own] for each, own in zip(answers, different, strict=True)]
    if not len(people):
        raise EstimateError("no report contains all of these questions: they are never asked of the same person")
    return np.stack(known), people.astype(float)


def _maximum(known: Array, people: Array, kind: str, start: Array | None = None) -> tuple[PersonModel, Fit, Array]:
    """Return the model with enough points, its maximum, and the covariance there."""
    items, count, _ = known.shape
    own = np.tile(np.eye(items), count)
    loads = np.ones((1, own.shape[1])) if kind == RASCH else own
    model = PersonModel(-own, loads, known.swapaxes(0, 1).reshape(-1, 2), np.arange(count + 1) * items, weights=people)
    return settled(model, NO_MAXIMUM, start)


def _traits(answers: Sequence[Answers], kind: str, confidence: float) -> Document:
    known, people = _combinations(answers, whole=False)
    if ((known[:, :, 0] != known[:, :, 1]).sum(axis=0) < 2).all():
        raise EstimateError("no person has reports of two of these items, which a model of people needs")
    model, fit, covariance = _maximum(known, people, RASCH)
    count, z = len(answers), normal_quantile(confidence)
    if kind == TWO_PARAMETERS:
        base = fit
        start = np.append(fit.theta[:count], np.full(count, fit.theta[count]))
        model, fit, covariance = _maximum(known, people, kind, start)
        test = ratio_test("all items discriminate alike", fit.log_likelihood - base.log_likelihood, count - 1, 1.0)
    else:
        test = spread_test(model, fit)
    items: list[Document] = []
    for place, (at, error) in enumerate(zip(fit.theta.tolist(), np.sqrt(np.diag(covariance)).tolist(), strict=True)):
        found = {"estimate": at, "std_error": error, "low": at - z * error, "high": at + z * error}
        if place < count:
            items.append({"name": answers[place].name, "difficulty": found})
        elif kind == TWO_PARAMETERS:
            low, high = (model.limit(fit, place, side * z) for side in (-1, 1))
            # Of two mirror images, which are equally likely, the first slope tells one.
            low = max(low, 0.0) if place == count and low is not None else low
            items[place - count]["discrimination"] = {**found, "low": low, "high": high}
    found = {"n": int(people.sum()), "points": model.points, "log_likelihood": fit.log_likelihood, "items": items}
    return {**found, "sd": spread(model, fit, covariance, confidence) if kind == RASCH else None, "test": test}


def _sum(answers: Sequence[Answers], confidence: float) -> Document:
    known, people = _combinations(answers, whole=True)
    # Of each half of the items, the likelihoods of its answers: (m, 2^items), and which row a combination has.
    (first, above), (second, beside) = (
        np.unique(
            reduce(lambda a, b: (a[:, :, None] * b[:, None]).reshape(len(b), -1), half), return_inverse=True, axis=0
        )
        for half in np.array_split(known, 2)
    )
    shape = len(first), len(second)
    seen = np.bincount(above * shape[1] + beside, people / people.sum(), math.prod(shape)).reshape(shape)

    def chances(table: Array) -> Array:
        return np.asarray(np.maximum(first @ table @ second.T, FLOOR))

    table = climb(
        lambda table: float((seen * np.log(chances(table))).sum()),
        lambda table: np.asarray(table * (first.T @ (seen / chances(table)) @ second)),
        np.full((first.shape[1], second.shape[1]), 0.5 ** len(answers)),
        SETTLED,
    )
    shares = np.bincount(np.indices((2,) * len(answers)).sum(axis=0).ravel(), table.ravel()).tolist()
    together = np.logical_and.reduce([each.observed for each in answers])
    scores = np.stack([each.scores[:, 1][each.codes[together]] for each in answers])
    # Ids are random, and so is the order of reports: sums in another order end in another digit.
    scores = scores[:, np.lexsort(scores)]
    total, n = scores.sum(axis=0), scores.shape[1]
    pairs = sum(float((one * other).mean()) for one, other in combinations(scores, 2))
    mean = float(total.mean())
    error = float(total.std(ddof=1)) / math.sqrt(n) if n > 1 else None
    ends: Sequence[float | None] = (None, None)
    if error is not None:
        # The mean as a share of the way from the least to the largest total that reports can give.
        scored = [np.concatenate([one.scores(np.arange(2))[:, 1] for one, _ in each.tables]) for each in answers]
        least, most = (float(sum(map(pick, scored))) for pick in (min, max))
        no, yes, at = ((point - least) / (most - least) for point in (0, len(answers), mean))
        # Of equal totals the error is 0 but for rounding, and says nothing of how sure the mean is.
        effective = at * (1 - at) * ((most - least) / error) ** 2 if error > ROUNDING * (most - least) else n
        ends = [len(answers) * float(end) for end in wilson(effective * at, effective, yes, no, confidence)]
    shown = min(max(mean, 0.0), float(len(answers)))
    return {
        "n": n,
        "distribution": shares,
        "mean": {"estimate": shown, "std_error": error, "low": ends[0], "high": ends[1]},
        # With this mean it is the largest if people say yes to all items or to none.
        "variance": min(max(mean + 2 * pairs - mean**2, 0.0), shown * (len(answers) - shown)),
    }
