"""The closed list of question types. Adding one is a file, its twin in the browser, and a line in each registry."""

from sottovoce.shared.types.base import QuestionType
from sottovoce.shared.types.boolean import BooleanType
from sottovoce.shared.types.date import DateType
from sottovoce.shared.types.decimal import DecimalType
from sottovoce.shared.types.integer import IntegerType
from sottovoce.shared.types.rating import RatingType
from sottovoce.shared.types.select_multiple import SelectMultipleType
from sottovoce.shared.types.select_one import SelectOneType
from sottovoce.shared.types.vector import VectorType

TYPES: dict[str, QuestionType] = {
    made.name: made
    for made in (
        BooleanType(),
        SelectOneType(),
        RatingType(),
        SelectMultipleType(),
        IntegerType(),
        DecimalType(),
        DateType(),
        VectorType(),
    )
}
"""Every question type by the name that the canonical survey carries."""

__all__ = ["TYPES", "QuestionType"]
