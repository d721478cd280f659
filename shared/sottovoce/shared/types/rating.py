"""``rating``: one of some options in an order, shown side by side."""

from sottovoce.shared.types.select_one import SelectOneType


class RatingType(SelectOneType):
    """One of the options that ``choices`` lists."""

    name = "rating"
