"""``vector``: several numbers on one grid, answered by a map; the true value is a tuple of steps, in their order."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sottovoce.shared.answers import Domain
from sottovoce.shared.checks import Reader
from sottovoce.shared.types.base import Fields, is_below
from sottovoce.shared.types.decimal import BOUNDS, NUMBER, DecimalType, grid_of
from sottovoce.shared.types.select_one import NAMED


class VectorType(DecimalType):
    """A number for each of the coordinates that ``coordinates`` lists."""

    name = "vector"
    truth = "numbers"
    keys: ClassVar[Mapping[str, Any]] = {"coordinates": NAMED, **dict.fromkeys(BOUNDS, NUMBER)}
    required = ("coordinates", *BOUNDS)
    list_key = "coordinates"
    answer_schema: ClassVar[Mapping[str, Any]] = {"type": "object"}
    may_be_public = False
    single = False

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:
        """The grid of each coordinate."""
        domain = super().domain(fields, names, reader, pointer)
        return domain if names else None

    def encode(self, domain: Domain, answer: object) -> Any:  # noqa: ANN401 - a tuple, where one number has an int
        """The steps of all coordinates."""
        if not isinstance(answer, Mapping) or set(answer) != set(domain.options):
            raise ValueError("must be a map with one number for each coordinate")
        return tuple(grid_of(domain).nearest(answer[coordinate]) for coordinate in domain.options)

    def check_exact(self, domain: Domain, answer: Any) -> None:  # noqa: ANN401 - as ``encode`` has read it
        """Refuse a number between two steps."""
        for coordinate in domain.options:
            grid_of(domain).index(answer[coordinate])

    def answer(self, domain: Domain, value: Any) -> Any:  # noqa: ANN401 - the same
        """The numbers as texts, by coordinate."""
        return {name: grid_of(domain).text(step) for name, step in zip(domain.options, value, strict=True)}

    def holds(self, domain: Domain, value: object) -> bool:
        """As many numbers of steps as there are coordinates."""
        if not isinstance(value, tuple) or len(value) != len(domain.options):
            return False
        return all(is_below(step, domain.size) for step in value)
