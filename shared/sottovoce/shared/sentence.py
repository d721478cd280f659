"""Make English sentences that can be said in another language: they know how they were made."""

from collections.abc import Mapping


class Sentence(str):
    """An English text that every function for texts accepts, and that catalogues can translate.

    Catalogues know it by its ``pattern``, the sentence with ``{places}``; ``values`` stand in them. The places are
    named for what stands there: ``variable``, ``other`` and ``variables`` for the names of a survey's variables,
    ``category`` and ``categories`` for those of ``variable``, ``row``, ``column`` and ``group`` for categories of a
    table, ``term`` and ``terms`` for those of a model, ``note``, ``reason``, ``reasons`` and ``limits`` for sentences.
    """

    __slots__ = ("pattern", "values")

    pattern: str
    values: Mapping[str, object]

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        """Keep how it was made, from one machine to another."""
        return (self.pattern,), dict(self.values)

    def __new__(cls, pattern: str, /, **values: object) -> "Sentence":
        """Fill the places of a pattern, one value each: whole numbers are grouped, several names are a tuple."""
        made = super().__new__(cls, pattern.format(**{name: _english(value) for name, value in values.items()}))
        made.pattern = pattern
        made.values = values
        return made


def error_message(error: Exception) -> str:
    """Return the message of an error: its ``Sentence`` if it was raised with one, which ``str`` would lose."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, str) else str(error)


def _english(value: object) -> str:
    if isinstance(value, tuple):
        return ("; " if any(isinstance(each, Sentence) for each in value) else ", ").join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
