"""Find forged or faulty reports, from published counts alone.

Implausible Counts that a channel could not produce, see ``estimators.support``.
Drawn       Where devices draw one option or coordinate: chi-square test of the drawn ones against uniform. Forged
            reports often carry the same draw each time.
Asked       Where devices draw m of q questions, X^2 (q - 1) / (q - m) of the reports on each question is chi-square
            with q - 1 degrees of freedom. Draws are without replacement, so the variance of a count is
            n m (q - m) / q^2 and not its mean. Of questions whose counts leave out people from whom a public answer
            hid them, none is looked at; the others are exchangeable, with one degree of freedom less for each.
Arms        Chi-square test of the reports in the arms against the arms' weights. Over W waves of people who keep their
            arm it is divided by W, as in ``one_sample_test``.
More        More reports in a wave than invited people, in the steps in which reports are counted.
"""

from dataclasses import dataclass

from sottovoce.aggregator.analysis.estimates import SurveyResults
from sottovoce.aggregator.analysis.tables.score_intervals import TAIL, uniformity
from sottovoce.aggregator.estimators.intervals import upper_tail
from sottovoce.shared.arms.arms import ARM, samples
from sottovoce.shared.spec import Question

LOOKS = 20
"""Number of looks that share one false alarm rate (Bonferroni): researchers look repeatedly while reports arrive."""
EVEN = TAIL / LOOKS
"""Smallest p value of even draws at each look."""


@dataclass(frozen=True)
class CountWarning:
    """A failed diagnostic: ``implausible``, ``drawn``, ``asked``, ``arms`` or ``more``; question None is the survey."""

    kind: str
    question: Question | None = None


def alarms(results: SurveyResults, invited: int | None = None) -> list[CountWarning]:
    """Return all failed diagnostics, the most serious first; ``invited`` is None if the number of people is unknown."""
    # The number of reports moves in whole batches, so the check lags behind by less than a batch.
    found = [CountWarning("more")] if invited is not None and results.fullest[1] > invited else []
    for result in results.questions:
        if any(estimate.implausible for estimate in result.estimates):
            found.append(CountWarning("implausible", result.question))
        mechanism = result.question.mechanism
        draws = mechanism is not None and mechanism.name in {"sampled_option", "sampled_coordinate"}
        if draws and uniformity([estimate.n for estimate in result.estimates]) < EVEN:
            found.append(CountWarning("drawn", result.question))
    survey, counts = results.survey, {each.question.name: each.n for each in results.questions if not each.asked_only}
    # Arms and earlier revisions may have drawn from other questions, so their counts need not be uniform.
    sets = () if survey.arms or survey.revision > 1 else samples(survey)
    drawn = [(each, [survey.questions[unit[0]].name for unit in each.units]) for each in sets]
    if any(uniformity([counts[n] for n in of if n in counts], each.size, len(of)) < EVEN for each, of in drawn):
        found.append(CountWarning("asked"))
    chance = chance_of_arms(results)
    return found if chance is None or chance >= TAIL else [*found, CountWarning("arms")]


def chance_of_arms(results: SurveyResults) -> float | None:
    """Return the p value of the numbers of reports in the arms, by the arms' weights; None without arms or reports.

    Devices draw the arm after consent, so a small value tells of people who left one arm more often than another.
    """
    arms = results.survey.arms
    # The arm is not among the results once public answers are published with noise.
    drawn = next((each for each in results.questions if arms and each.question.name == ARM), None)
    if drawn is None or drawn.n == 0:
        return None
    n = drawn.n
    counts = {estimate.option: (estimate.raw or 0.0) * n for estimate in drawn.estimates}
    whole = sum(arm.weight for arm in arms)
    expected = [(counts.get(arm.name, 0.0), n * arm.weight / whole) for arm in arms]
    keeps_arm = results.same_people and "arms_per_wave" not in results.survey.document
    repeats = sum(map(bool, results.waves)) if keeps_arm else 1
    return upper_tail(sum((count - mean) ** 2 / mean for count, mean in expected) / repeats, len(arms) - 1)
