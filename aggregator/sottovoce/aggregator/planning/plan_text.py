"""A plan in words."""

from sottovoce.aggregator.planning.lint import describe_mechanism
from sottovoce.aggregator.planning.sample_size import CurvePoint, SampleSize
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon


def needed_in_words(made: SampleSize, epsilon: float | None, mechanism: Mechanism | None) -> list[str]:
    """
    How many reports and invitations, and how many an open question would need.

    Args:
        made: the plan.
        epsilon: of a report, or of all waves; None for a public question.
        mechanism: the question's own; None without a question, and for a public one.
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
    """Whose curve it is: one mechanism's, or of what publishing chooses at each point."""
    return f"over epsilon ({'what publishing chooses' if mechanism is None else mechanism.name})"


def point_in_words(point: CurvePoint) -> tuple[str, str, str]:
    """A row of the table over epsilon: epsilon, reports, times those of a direct question."""
    epsilon = f"{show_epsilon(point.epsilon)} (this plan)" if point.own else f"{point.epsilon:.2f}"
    reports = "out of reach" if point.reports is None else f"{point.reports:,}"
    return epsilon, reports, "" if point.ratio is None else f"{point.ratio:.1f}"


def protection_in_words(made: SampleSize) -> list[str]:
    """What would be estimated if some people said no whatever is true."""
    return [
        f"If {row.share:.0%} protect themselves by answering no, {row.expected:.1%} will be estimated "
        f"where {made.goal.expected:.1%} are true."
        for row in made.protection[1:]
    ]
