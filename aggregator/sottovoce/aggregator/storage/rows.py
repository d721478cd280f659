"""The values of a report as the text of one column."""

import json


def dump_values(values: tuple[int | None, ...]) -> str:
    """``[1,null,12]``."""
    return json.dumps(values, separators=(",", ":"))


def parse_values(text: str) -> tuple[int | None, ...]:
    """The values again."""
    return tuple(json.loads(text))
