"""Decide which items are shown, by conditions on earlier answers, evaluated on the device and nowhere else.

``visible_if`` maps names of earlier questions to what their answers must be, and all of it must hold; of ``any_of``,
such a map too, one part is enough. Where an item has both, both must hold.

    {smokes: "yes"}                    the answer is this option
    {smokes: [daily, weekly]}          it is one of these; of a select_multiple, one of these was chosen
    {age: {min: "18", max: "65"}}      the number lies in this range, ends included; one end may be left out

No condition holds for an answer that is absent, be it refused or of a question that is hidden itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sottovoce.shared.answers import Value


@dataclass(frozen=True)
class Condition:
    """A condition on the answer to one earlier question.

    Attributes:
        question: the earlier question's name.
        options: indices of the options of which one must be chosen; none for a number.
        span: first and last step of the range that a number must lie in; None for options.
        mask: the answer is a bit mask of chosen options.
    """

    question: str
    options: tuple[int, ...] = ()
    span: tuple[int, int] | None = None
    mask: bool = False

    def holds(self, value: Value) -> bool:
        """Return True if a true value meets the condition."""
        if self.span is not None:
            return isinstance(value, int) and self.span[0] <= value <= self.span[1]
        if self.mask:
            return isinstance(value, int) and any(value >> option & 1 for option in self.options)
        return value in self.options


def is_shown(all_of: Sequence[Condition], any_of: Sequence[Condition], given: Mapping[str, Value]) -> bool:
    """Return True if an item is shown: all of ``all_of`` hold and, where there are any, one of ``any_of``.

    ``given`` are the true values of the answers that were really given, by question name.
    """

    def holds(condition: Condition) -> bool:
        return condition.question in given and condition.holds(given[condition.question])

    return all(map(holds, all_of)) and (not any_of or any(map(holds, any_of)))
