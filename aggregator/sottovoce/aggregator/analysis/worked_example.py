"""Compute the estimated share of yes from the reports in steps that a reader can check by hand.

Pages and the terminal say them with the same sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.aggregator.analysis.estimates import QuestionResult, SurveyResults
from sottovoce.aggregator.analysis.mixtures.mixture import notes_alone
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.i18n.translator import ENGLISH, NumberFormat, Words
from sottovoce.shared.spec import Question

SHORT = 1000
"""Limit for fractions: channels with larger terms, such as 32-bit ones for an epsilon, are shown as percentages."""

MOST_DIGITS = 9
"""Most decimals of a percentage; only results close to a rounding boundary need many."""

LINE, QUOTIENT = "{} × {} − {}", "({} − {}) / {}"


@dataclass(frozen=True)
class Percent:
    """Share, already rounded to a percentage with ``digits`` decimals."""

    share: Fraction
    digits: int


@dataclass(frozen=True)
class Ratio:
    """Fraction of two counts, shown with both."""

    count: int
    of: int


WorkedNumber = Percent | Ratio | Fraction | int
"""A number in the sentence; a Fraction is shown as one."""


def written(number: WorkedNumber, write: NumberFormat) -> str:
    """Return a number of the arithmetic in one language; a fraction stays one."""
    if isinstance(number, Percent):
        return write.percent(number.share, number.digits).replace("-", "−")
    if isinstance(number, Ratio):
        return f"{write.words.number(number.count)}/{write.words.number(number.of)}"
    return write.words.number(number) if isinstance(number, int) else str(number)


def limits(estimate: Estimate, still_open: bool) -> tuple[float, float]:
    """Return the limits to draw: the band if the survey is open and has one, else ``Estimate.ends``."""
    if has_band(estimate, still_open):
        return estimate.band_low or 0.0, estimate.band_high or 0.0
    return estimate.ends


def has_band(estimate: Estimate, still_open: bool) -> bool:
    """Return True if the band is shown instead of the interval."""
    return still_open and estimate.band_low is not None and estimate.band_high is not None


def worked_in_words(result: QuestionResult, still_open: bool, words: Words) -> str:
    """Return the sentences that work the share of yes out to the displayed digit, its limits last; "" without any.

    Other types of questions have none, nor public ones, those without a report, and revisions of different channels.
    Example: "30% of the reports (n = 100) said yes; 2 × 30% − 1/2 = 10.0%. 95% interval: 0.0% to 30.2%."
    """
    support = getattr(result.question.mechanism, "support", None)
    # In the crosswise model people say neither yes nor no.
    is_crosswise = result.question.by_fact and result.question.by_fact.is_crosswise
    if result.question.kind.truth != "yes_no" or support is None or is_crosswise:
        return ""
    for yes in result.estimates:
        if yes.option == "yes" and yes.raw is not None and yes.count is not None:
            return _worked(yes, support, still_open, words)
    return ""


def _worked(yes: Estimate, support: tuple[Fraction, Fraction], still_open: bool, words: Words) -> str:
    (a, b), raw, count, write = support, yes.raw or 0.0, yes.count or 0, words.write
    # As percentages are written, so that the example ends in exactly the digits shown elsewhere.
    shown = Percent(round(Fraction(raw), 3), 1)
    made = _shortest(Fraction(count, yes.n), a, b, shown.share)
    reported, form, parts = made or (count, LINE, (1 / (a - b), Ratio(count, yes.n), b / (a - b)))
    figures = {"yes": written(reported, write), "result": written(shown, write), "reports": yes.n}
    arithmetic = form.format(*(written(part, write) for part in parts))
    # Only chance can lead outside of [0, 1].
    beyond = [] if 0 <= raw <= 1 else [words.translate("results_worked_beyond")]
    kind = "results_limits_band" if has_band(yes, still_open) else "results_limits_interval"
    _, within = _figures(yes, still_open, words)
    limited = words.translate(kind, confidence=write.percent(yes.confidence, 0), range=within)
    worked = words.translate("results_worked", arithmetic=arithmetic, **figures)
    return words.translate("gap").join([worked, *beyond, limited])


def results_in_words(results: SurveyResults, words: Words = ENGLISH.words) -> list[str]:
    """Return "name: sentence" for each yes/no question that has workings, or that people may leave unanswered."""
    found, still_open = [], not results.closed
    for each in results.questions:
        sentences = (
            worked_in_words(each, still_open, words),
            answered_in_words(each, still_open, words),
            counted_in_words(each, {}, words) if each.conditional else "",
            words.translate("results_no_limits") if any(one.low is None for one in each.estimates) else "",
            _shares(each.corrected, f"{words.translate('results_corrected')}:", still_open, words),
            *map(VariableNames(words).note, notes_alone(results.survey, [each.question.name])),
        )
        found += [f"{each.question.name}: {sentence}" for sentence in sentences if sentence]
    return [*found, *careless_in_words(results, {}, words)]


def careless_in_words(results: SurveyResults, titles: Mapping[str, str], words: Words) -> Iterator[str]:
    """Yield sentences on the share of careless people, if there are anchors; ``titles`` are texts of questions."""
    careless, write = results.careless, words.write
    if careless is None:
        return
    low, high = careless.limits
    labels = [titles.get(each.name, each.name) for each in careless.anchors]
    named = "; ".join(words.translate("joint_paper_question", question=label) for label in labels)
    between = write.interval(write.percent(low), write.percent(high))
    yield words.translate("results_careless", share=write.percent(careless.clipped), limits=between, questions=named)
    if low <= 0:
        yield words.translate("results_careless_both")
    if careless.agreement is not None:
        yield words.translate("results_careless_agree", p=write.p_equals(careless.agreement))
    yield words.translate("results_careless_assumed")


def declined_in_words(result: QuestionResult, still_open: bool, words: Words, described: str = "") -> str:
    """Return the people whom the shares describe, and the share of the others; "" if everybody must answer.

    ``described`` names other people than those who answered, see ``joint_among_all`` in the catalogues.
    """
    declined = result.declined
    if declined is None or declined.clipped is None:
        return ""
    key = "results_declined" if result.asked_only or not result.conditional else "results_declined_or_hidden"
    people = words.translate(f"joint_among_{described or result.described}")
    share, within = _figures(declined, still_open, words)
    return words.translate(key, people=people, share=share, limits=within)


def answered_in_words(result: QuestionResult, still_open: bool, words: Words) -> str:
    """Return the shares of answers among those who answered, after those of the others; "" if everybody must answer."""
    declined = declined_in_words(result, still_open, words) if result.answered else ""
    shown = result.answered[1 if result.question.kind.truth == "yes_no" else 0 :]
    return _shares(shown, declined, still_open, words) if declined else ""


def _shares(estimates: Sequence[Estimate], title: str, still_open: bool, words: Words) -> str:
    shares = []
    for each in estimates:
        share, within = _figures(each, still_open, words)
        shares.append(f"{each.option} {words.translate('joint_with_limits', figure=share, limits=within)}")
    is_unlimited = any(limits(each, still_open) == (0.0, 1.0) for each in estimates)
    unlimited = f" {words.translate('results_unlimited')}" if is_unlimited else ""
    return f"{title} {', '.join(shares)}.{unlimited}" if shares else ""


def _figures(estimate: Estimate, still_open: bool, words: Words) -> tuple[str, str]:
    write = words.write
    low, high = map(write.percent, limits(estimate, still_open))
    return write.point(estimate.clipped, write.percent), write.interval(low, high)


def counted_in_words(result: QuestionResult, labels: Mapping[str, str], words: Words) -> str:
    """Say as which answer no answer counts, and people who were not asked; "" if no answer is one of its own."""
    counted, say = absent_in_words(result.question, labels, words), words.translate
    asked = [say("note_as_sentence", note=say("joint_among_asked"))] if result.asked_only else []
    beside = [say("results_not_asked")] if result.conditional and not asked else []
    return say("gap").join([*asked, counted, *beside]) if counted else ""


def absent_in_words(question: Question, labels: Mapping[str, str], words: Words) -> str:
    """Say as which answer no answer counts; "" if it is one of its own, or everybody must answer."""
    if question.absent is None or question.domain.absent:
        return ""
    answer = question.answer(question.absent)
    if isinstance(answer, Mapping):
        answer = ", ".join(f"{labels.get(name, name)} {number}" for name, number in answer.items())
    if isinstance(answer, list | tuple):
        answer = ", ".join(labels.get(name, name) for name in answer) or words.translate("results_none_of_them")
    return words.translate("results_absent_as", answer=labels.get(str(answer), str(answer)))


def _shortest(
    share: Fraction, a: Fraction, b: Fraction, shown: Fraction
) -> tuple[Percent, str, tuple[WorkedNumber, ...]] | None:
    """Return the arithmetic with the fewest digits that still gives the displayed estimate, or None.

    It is a line with exact slope and offset, or a quotient of rounded numbers.
    """
    slope, offset = 1 / (a - b), b / (a - b)
    is_line = all(max(part.as_integer_ratio()) < SHORT for part in (slope, offset))
    for digits in range(0 if is_line else 1, MOST_DIGITS + 1):
        rounded, low, gap = (_rounded(part, digits) for part in (share, b, a - b))
        form, made = LINE, (rounded.share - b) * slope
        parts: tuple[WorkedNumber, ...] = slope, rounded, offset
        if not is_line:
            # Two channels close together can round to the same percentage; more digits are tried then.
            made = (rounded.share - low.share) / gap.share if gap.share else Fraction(2)
            form, parts = QUOTIENT, (rounded, low, gap)
        # Fractions throughout: a float could miss the displayed digit, a tenth of a percent, by its last bit.
        if abs(made - shown) <= Fraction(1, 2000):
            return rounded, form, parts
    return None


def _rounded(part: Fraction, digits: int) -> Percent:
    return Percent(Fraction(round(part * 100 * 10**digits), 100 * 10**digits), digits)
