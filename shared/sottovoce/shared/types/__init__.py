"""The closed list of question types. Adding one is a class, its twin in the browser, and a line in each registry."""

from sottovoce.shared.types.base import (
    BooleanType,
    DateType,
    DecimalType,
    IntegerType,
    QuestionType,
    RatingType,
    SelectMultipleType,
    SelectOneType,
    VectorType,
)

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
