"""Write the shares and means of each column of a file: sottovoce-shares/1.

Weights, strata and clusters give linearised errors:

Point       m = sum w y / sum w over the rows with an answer, y the unbiased score of a report.
Error       u_i = w_i (y_i - m) / sum w, 0 of a row without an answer; in stratum h of n_h clusters with sums u_hc the
            variance is sum_h n_h / (n_h - 1) sum_c (u_hc - mean_c u_hc)^2, as of clusters drawn with replacement. A row
            is a cluster of its own unless a column names clusters; equal names in two strata are two clusters.
Limits      Of Student's t with as many degrees of freedom as clusters less strata, on the logit of the share of reports
            that support an option, b + (a - b) m; of a mean, on its own scale. Where m is not within 0 to 1, or fewer
            than 10 effective reports are of one kind, these do not hold (.87 of 100 people of whom .13 are expected to
            say yes): the limits are those of the rule, with the effective number of reports, times (z / t)^2.
Source      Binder 1983; Korn and Graubard 1998.

Anchors, columns with a known share of yes, correct the shares of the others for careless reports:

Model       As in ``estimators.careless.anchors``, but a careless person sends each report with probability 1/2,
            whatever the channel: answers may have been randomized by hand. With channel (a, b) that is a share
            (1/2 - b)/(a - b) of yes. In a survey devices randomize a careless answer; for Warner's, the crosswise and
            other channels with a + b = 1, both are 1/2.
Source      Atsusaka and Stevenson 2023 (the crosswise model with an anchor).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.careless_results import CAREFUL, careless_document
from sottovoce.aggregator.analysis.data_file.column_channel import as_number
from sottovoce.aggregator.analysis.data_file.data_columns import states_of
from sottovoce.aggregator.analysis.data_file.read_table import FileTable
from sottovoce.aggregator.analysis.estimates import QuestionResult, question_result
from sottovoce.aggregator.analysis.innocuous_shares import facts_of, moved_columns
from sottovoce.aggregator.analysis.report_columns import Columns, answers_of, strata_of
from sottovoce.aggregator.analysis.weights import checked_weights, kish_effect, weight_warnings
from sottovoce.aggregator.estimators.by_hand.uncertain_share import of_strata, over_share
from sottovoce.aggregator.estimators.careless.anchors import YES, Careless, anchor_share, corrected_shares
from sottovoce.aggregator.estimators.intervals import METHODS, normal_quantile, t_quantile
from sottovoce.aggregator.estimators.matrix import MatrixChannel
from sottovoce.aggregator.estimators.public import OF_MEANS
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import Floats
from sottovoce.aggregator.file_formats.csv_lines import wrong_at
from sottovoce.shared.channel_text import read_number
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.spec import Question

NO_COLUMN = "there is no column '{name}' for an anchor; there are: {names}"
TWO_REPORTS = "the anchor '{variable}' must have two answers and one channel of two reports, without se"
TOO_NEAR = (
    "the anchor '{variable}' cannot tell careless reports: they give a share of {share}, and its known share is within "
    "{least} of that"
)
KNOWN = "the known share of the anchor '{variable}' must be a number from 0 to 1, such as 0 or 1/20"
LEAST_SLOPE = 0.1
"""Distance of a known share from the share of random reports, as in a survey."""


def add_corrections(columns: Columns, document: dict[str, Any], known: Mapping[str, str], rule: IntervalRule) -> None:
    """Add the share of careless reports to a document of shares, and the corrected shares of yes/no columns.

    ``known`` is the share of yes by name of the anchor, such as "0" or "1/20". Raises EstimateError if an anchor is no
    yes/no column with one exactly known channel and a share that careless reports move.
    """
    asked = {each.name: each for each in columns.survey.questions}
    anchors = []
    for name, text in known.items():
        if name not in asked:
            raise EstimateError(NO_COLUMN, name=name, names=", ".join(asked))
        chance = _share_of_random(columns, asked[name])
        if chance is None or asked[name].inexact_fact:
            raise EstimateError(TWO_REPORTS, variable=name)
        share = _known_share(name, text)
        if abs(chance - share) < LEAST_SLOPE:
            raise EstimateError(TOO_NEAR, variable=name, share=f"{chance:.3g}", least=str(LEAST_SLOPE))
        found = anchor_share(asked[name], share, strata_of(columns, asked[name]), chance=chance)
        anchors += [] if found is None else [found]
    if not anchors:
        raise EstimateError("no row has an answer to an anchor")
    careless = Careless(tuple(anchors), rule.confidence)
    document["careless"] = careless_document(careless)
    left = []
    for result in document["questions"]:
        question = asked[result["name"]]
        chance = _share_of_random(columns, question)
        if chance is None or careless.raw >= 1:
            left.append(question.name)
        elif question.name not in {each.name for each in anchors}:
            result["corrected"] = {
                "people": CAREFUL,
                "estimates": _corrected(columns, question, chance, careless, rule),
            }
    if left:
        document["warnings"].append(Sentence("not corrected for careless reports: {variables}", variables=tuple(left)))


def _corrected(
    columns: Columns, question: Question, chance: float, careless: Careless, rule: IntervalRule
) -> list[dict[str, Any]]:
    both = columns.asked(question.name)
    n = int(both.sum())
    shared = [int((both & columns.asked(each.name)).sum()) / max(min(n, each.n), 1) for each in careless.anchors]
    found = of_strata(
        lambda strata, by: corrected_shares(strata, question.domain, None, careless, by, min(shared), chance),
        strata_of(columns, question),
        rule,
    )
    return [asdict(each) for each in found]


def _known_share(name: str, text: str) -> Fraction:
    try:
        share = read_number(text, name)
    except ValueError:
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise EstimateError(KNOWN, variable=name)
    return share


def _share_of_random(columns: Columns, question: Question) -> float | None:
    """Return the share of yes that random reports give; None unless the column has two answers and one such channel."""
    mechanisms = {mechanism for mechanism, tally in strata_of(columns, question) if sum(tally.values())}
    [mechanism] = mechanisms if len(mechanisms) == 1 else [question.mechanism]
    two = mechanism is None or isinstance(mechanism, BinaryRR)
    two = two or (isinstance(mechanism, MatrixChannel) and len(mechanism.rows[0]) == 2)
    if len(mechanisms) != 1 or len(question.options) != 2 or not two:
        return None
    if mechanism is None:
        return 0.5
    a, b = variables_of(question)[0].channels[YES]
    return (0.5 - b) / (a - b)


METHOD = "logit-t"
FEW = 10
COMMA = "has a comma; a decimal is written with a point, such as 0.25"
ALONE = "its stratum has one cluster only, which does not show how much it varies; join strata"


@dataclass(frozen=True)
class SampleDesign:
    """Weights of the rows, (n,), the number of each row's cluster, (n,), and of each cluster's stratum, (clusters,)."""

    weights: Floats
    clusters: NDArray[np.intp]
    strata: NDArray[np.intp]

    def error(self, parts: Floats) -> float:
        """Return the standard error of the sum of linearised parts, (n,)."""
        sums, sizes = np.bincount(self.clusters, parts), np.bincount(self.strata)
        apart = sums - (np.bincount(self.strata, sums) / sizes)[self.strata]
        return math.sqrt(float(apart**2 @ (sizes / (sizes - 1))[self.strata]))


def weights_of(table: FileTable, weights: ArrayLike | None) -> Floats:
    """Return the weights of a column that is named, or those given, (n,); 1 for None.

    Raises SurveyError if there is no such column, or as ``checked_weights``.
    """
    if isinstance(named := weights, str):
        codes = codes_of(table, named, np.arange(0))
        numbers = [as_number(text) for text in table.columns[named].values]
        weights = np.array([math.nan if each is None else float(each) for each in numbers])[codes]
        wrong = np.flatnonzero(~(weights > 0))
        if len(wrong):
            has_comma = "," in table.columns[named].values[codes[wrong[0]]]
            reason = COMMA if has_comma else "is not a number above 0, as a weight must be"
            raise wrong_at(table.place(named, int(wrong[0])), reason)
    return checked_weights(np.ones(len(table)) if weights is None else weights, len(table))


def sample_design(
    table: FileTable, weights: ArrayLike | None, strata: str | None, clusters: str | None
) -> SampleDesign:
    """Return the design that columns of a file describe; raise SurveyError if a stratum has only one cluster."""
    rows = np.arange(len(table))
    of_rows, within = codes_of(table, strata, 0 * rows), codes_of(table, clusters, rows)
    _, firsts, numbers = np.unique(of_rows * len(table) + within, return_index=True, return_inverse=True)
    alone = firsts[np.bincount(of_rows[firsts])[of_rows[firsts]] < 2]
    if len(alone):
        raise wrong_at(f"{table.file}, {table.unit} {table.lines[alone[0]]}", ALONE)
    return SampleDesign(weights_of(table, weights), numbers, of_rows[firsts])


def codes_of(table: FileTable, name: str | None, default: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the place of each row's text among those of a column, (n,); raise SpecError if a cell is empty."""
    if name is None:
        return default
    codes = table.column(name).rows.astype(np.intp)
    if codes.min(initial=0) < 0:
        raise wrong_at(table.place(name, int(codes.argmin())), "is empty; weights and designs need all cells")
    return codes


def weighted_result(
    columns: Columns, result: QuestionResult, design: SampleDesign, rule: IntervalRule
) -> QuestionResult:
    """Return the shares and means of a column by this design; without quantiles and ranges, which have no weights."""
    able = [each for each in result.estimates if each.kind == "mean" or result.question.options]
    facts = facts_of(columns, [result.question.name])

    def at(u: float, by: IntervalRule) -> list[Estimate]:
        moved = moved_columns(columns, facts[0], u) if u else columns
        return [_weighted(moved, result.question.name, each, design, by, len(able)) for each in able]

    return replace(result, answered=(), estimates=[*(over_share(at, rule) if facts else at(0.0, rule))])


def _weighted(
    columns: Columns, question: str, found: Estimate, design: SampleDesign, rule: IntervalRule, together: int
) -> Estimate:
    if not found.n:
        return found
    scores, channel = _scores(columns, question, found.option)
    weights = np.where(np.isnan(scores), 0.0, design.weights)
    weights, scores = weights / weights.sum(), np.nan_to_num(scores)
    raw = float(weights @ scores)
    figures = raw, design.error(weights * (scores - raw)), 1 / float(weights @ weights)
    df = len(design.strata) - int(design.strata.max()) - 1
    (method, low, high), (_, least, most) = (
        _limits(figures, channel, t_quantile(level, df), replace(rule, confidence=level))
        for level in (rule.confidence, rule.joint_confidence(together))
    )
    shown, *ends = (min(max(each, found.lowest), found.highest) for each in (raw, low, high, least, most))
    told = replace(found, method=method, count=None, std_error=figures[1], std_error_fixed=None, raw=raw, clipped=shown)
    return replace(told, low=ends[0], high=ends[1], simultaneous_low=ends[2], simultaneous_high=ends[3])


def _limits(
    figures: tuple[float, float, float], channel: tuple[float, float] | None, t: float, rule: IntervalRule
) -> tuple[str, float, float]:
    """Return method and limits from raw figure, error and effective reports; ``channel`` is (a, b), None of a mean."""
    raw, error, size = figures
    if channel is None:
        return OF_MEANS, raw - t * error, raw + t * error
    a, b = channel
    share = b + (a - b) * raw
    spread, error = share * (1 - share), (a - b) * error
    known = spread / error**2 if spread > 0 < error else size
    # What few people say shows neither how much weights differ among all nor how far the share may be from it.
    if few := min(size, known) * min(share, 1 - share) < FEW:
        known = min(size, known) * (normal_quantile(rule.confidence) / t) ** 2
    if 0 < raw < 1 and spread > 0 < error and not few:
        low, high = (1 / (1 + (1 - share) / share * math.exp(-side * t * error / spread)) for side in (-1, 1))
        return METHOD, (low - b) / (a - b), (high - b) / (a - b)
    ends = METHODS[rule.method](share * known, known, a, b, rule.confidence)
    return rule.method, float(ends[0]), float(ends[1])


def _scores(columns: Columns, name: str, option: str) -> tuple[Floats, tuple[float, float] | None]:
    """Return the score of each row for an option, (n,), NaN without one, and its (a, b); None for a number."""
    asked = columns.question(name)
    parts = () if asked is None else variables_of(asked)
    variable = next(each for each in parts if each.name in {"", option})
    answers = answers_of(columns, variable.full_name)
    place = variable.categories.index(option) if option in variable.categories else -1
    scores = answers.scores.reshape(len(answers.scores), -1)[:, place][answers.codes]
    return np.where(answers.observed, scores, np.nan), variable.channels[place] if variable.channels else None


SHARES = "sottovoce-shares/1"

IMPLAUSIBLE = "'{variable}', '{category}': the reports are further off than this channel explains; check the channel"

Document = dict[str, Any]


def shares_of_file(
    table: FileTable, columns: Columns, names: Sequence[str] = (), rule: IntervalRule = DEFAULT_RULE,
    weights: ArrayLike | None = None, strata: str | None = None, clusters: str | None = None,
    anchors: Mapping[str, str] | None = None,
) -> Document:  # fmt: skip
    """Return the shares of columns of a file as one JSON object, ``sottovoce-shares/1``.

    Rare answers that a survey's file leaves out are one more answer; a mean would need the numbers that are left out.

    Args:
        names: all columns by default, but those of weights, strata and clusters.
        anchors: known share of yes, by name of the columns that show careless reports.

    Raises SurveyError if there is no such column, or the design tells no variance.
    """
    own = {each for each in (weights, strata, clusters) if isinstance(each, str)}
    design = None if weights is None and not own else sample_design(table, weights, strata, clusters)
    if anchors and design is not None:
        raise EstimateError("a correction by anchors and weights, strata or clusters do not go together; leave one out")
    columns = columns.with_few(columns.few)
    nothing = columns.among(np.zeros(len(columns), bool))
    questions = {each.name: each for each in columns.survey.questions}
    for name in names:
        if name not in questions:
            words = "there is no column '{name}'; there are: {known}"
            raise EstimateError(words.format(name=name, known=", ".join(questions)))
    used = [questions[name] for name in names or [name for name in questions if name not in own] or questions]
    found = [
        question_result(each, strata_of(nothing if each.name in columns.few_numbers else columns, each), rule)
        for each in used
    ]
    if design is not None:
        found = [weighted_result(columns, each, design, rule) for each in found]
    document = results_document(columns.survey.name, len(columns), found)
    if design is not None:
        document["warnings"] += weight_warnings(design.weights)
        document["deff"] = kish_effect(design.weights)
    if anchors:
        add_corrections(columns, document, anchors, rule)
    states = states_of(table)
    for question in document["questions"]:
        if question["name"] in states:
            question["answered"], question["shown"] = states[question["name"]]
    return document


def results_document(file: str, reports: int, results: Sequence[QuestionResult]) -> Document:
    """Return results as one JSON object; ``file`` names the file, or the channel that counts came through."""
    return {
        "format": SHARES,
        "file": file,
        "reports": reports,
        "confidence": next((one.confidence for each in results for one in each.estimates), DEFAULT_RULE.confidence),
        "questions": [_question(each) for each in results],
        "warnings": [
            Sentence(IMPLAUSIBLE, variable=each.question.name, category=one.option)
            for each in results
            for one in each.estimates
            if one.implausible
        ],
    }


def _question(result: QuestionResult) -> Document:
    mechanism = result.question.mechanism
    return {
        "name": result.question.name,
        "channel": None if mechanism is None else mechanism.dump(),
        "n": result.n,
        "estimates": [asdict(estimate) for estimate in result.estimates],
        **({"among_answered": [asdict(one) for one in result.answered]} if result.answered else {}),
    }


def share_rows(document: Document) -> list[Document]:
    """Return one flat row for each estimate, with ``question``, ``option``, ``n``, ``shown``, ``low``, ``high``, ...

    ``among`` names the people whom it describes, "all" or "answered".
    """
    return [
        {"question": question["name"], **estimate, "shown": estimate["clipped"], "among": among}
        for question in document["questions"]
        for key, among in (("estimates", "all"), ("among_answered", "answered"))
        for estimate in question.get(key, ())
    ]
