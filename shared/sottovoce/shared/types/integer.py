"""``integer``: a whole number on a grid."""

from sottovoce.shared.types.decimal import DecimalType


class IntegerType(DecimalType):
    """One of the whole numbers from ``min`` to ``max``, in steps of 1 unless ``step`` says otherwise."""

    name = "integer"
    required = ("min", "max")
    default_step = 1
    must_be_whole = "must be a whole number, as the question is an integer"
