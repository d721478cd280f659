"""Write sample size plans as text."""

from sottovoce.aggregator.planning.lint import describe_mechanism
from sottovoce.aggregator.planning.sample_size import CurvePoint, SampleSize
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon


def needed_in_words(made: SampleSize, epsilon: float | None, mechanism: Mechanism | None) -> list[str]:
    """Describe the numbers of reports and invitations, and the reports that a public question would need.

    ``epsilon`` is of a report, or of all waves; it is None for a public question, and ``mechanism`` without a question
    too.
    """
    per_group = " in each group" if made.groups > 1 else ""
    waves = 1 if mechanism is None else mechanism.waves
    per_wave, of_all = (" in each wave", f" of all {waves} waves") if waves > 1 else ("", "")
    how = "" if mechanism is None else f", {describe_mechanism(mechanism)}"
    cost = "asked openly" if epsilon is None else f"epsilon{of_all} {show_epsilon(epsilon)}"
    lines = [f"{made.reports:,} reports{per_group}{per_wave}, {cost}{how}"]
    if made.invitations != made.reports:
        lines.append(f"{made.invitations:,} people to invite{per_group}")
    if epsilon is None:
        return lines
    ratio = "" if made.ratio is None else f", {made.ratio:.1f} times fewer"
    return [*lines, f"{made.direct:,} if the question were asked openly{ratio}"]


def curve_title(mechanism: Mechanism | None) -> str:
    """Return the title of the curve over epsilon, which names its mechanism or the default choice at each point."""
    return f"over epsilon ({'what publishing chooses' if mechanism is None else mechanism.name})"


def point_in_words(point: CurvePoint) -> tuple[str, str, str]:
    """Return a row of the table over epsilon: epsilon, reports, ratio to those of a direct question."""
    epsilon = f"{show_epsilon(point.epsilon)} (this plan)" if point.own else show_epsilon(point.epsilon)
    reports = "out of reach" if point.reports is None else f"{point.reports:,}"
    return epsilon, reports, "" if point.ratio is None else f"{point.ratio:.1f}"


def protection_in_words(made: SampleSize) -> list[str]:
    """Describe the bias if some respondents always answer no."""
    return [
        f"If {row.share:.0%} protect themselves by answering no, {row.expected:.1%} will be estimated "
        f"where {made.goal.expected:.1%} are true."
        for row in made.protection[1:]
    ]
