"""The closed list of question types. Adding one is a file, its twin in the browser, and a line in each registry."""

from sottovoce.shared.types.base import QuestionType
from sottovoce.shared.types.boolean import Boolean
from sottovoce.shared.types.decimal import Decimal
from sottovoce.shared.types.integer import Integer
from sottovoce.shared.types.rating import Rating
from sottovoce.shared.types.select_multiple import SelectMultiple
from sottovoce.shared.types.select_one import SelectOne
from sottovoce.shared.types.vector import Vector

TYPES: dict[str, QuestionType] = {
    made.name: made
    for made in (
        Boolean(),
        SelectOne(),
        Rating(),
        SelectMultiple(),
        Integer(),
        Decimal(),
        Vector(),
    )
}
"""Every question type by the name that the canonical survey carries."""

__all__ = ["TYPES", "QuestionType"]
