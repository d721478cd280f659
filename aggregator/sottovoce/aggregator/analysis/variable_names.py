"""Name variables, terms and categories in results, and put their names into notes."""

import re
from collections.abc import Mapping
from fractions import Fraction

from sottovoce.aggregator.estimators.question_variables import bare
from sottovoce.aggregator.i18n.translator import DECIMALS, Words

_WORD = re.compile(r"[A-Za-z0-9_.]+")

_VARIABLES = frozenset({"variable", "other", "variables"})
_TERMS = frozenset({"term", "terms"})
_SENTENCES = frozenset({"note", "reason", "limits"})
"""Names of the placeholders of a ``Sentence``, by what they hold: a variable, a term, another sentence."""


class VariableNames:
    """Names of variables, terms and categories as a result has them, for readers of a result without its survey."""

    words: Words

    def __init__(self, words: Words) -> None:
        self.words = words

    def label(self, name: str) -> str:
        """Return the label of a variable."""
        return name

    def text(self, name: str) -> str:
        """Return the text of a variable."""
        return self.label(name)

    def category(self, name: str, category: str) -> str:  # noqa: ARG002 - labels need the variable
        """Return the label of a variable's category."""
        return category

    def term(self, term: str) -> str:
        """Return the label of a model term."""
        return term

    def answers(self, name: str) -> list[str]:  # noqa: ARG002
        """Return the names of a variable's categories, without no answer; empty if they are unknown."""
        return []

    def is_variable(self, name: str) -> bool:
        """Return True if this is a variable's name, and no expression of some."""
        return _WORD.fullmatch(bare(name)) is not None

    def variables_in(self, term: str) -> set[str]:
        """Return the names of the variables in a model term, also those within its expressions."""
        factors = (factor.partition("=")[0] for factor in term.split(":"))
        return {name for factor in factors for name in _WORD.findall(factor) if self.is_variable(name)}

    def note(self, english: str, **of: str) -> str:
        """Translate a note of an analysis, with the survey's labels instead of names, as a whole sentence.

        ``of`` names the variable that the placeholders ``row``, ``column`` and ``group`` hold a category of.
        """
        text = self.translate_note(english, **of)
        # A name, such as a file's, keeps its letters.
        begins = text[:1] if getattr(english, "pattern", "").startswith("{") else text[:1].upper()
        return self.words.translate("note_as_sentence", note=begins + text[1:])

    def translate_note(self, english: str, **of: str) -> str:
        """Translate a note as a part of a sentence, with the survey's labels; see ``note``."""
        own = str(getattr(english, "values", {}).get("variable", ""))

        def value(place: str, given: object) -> object:
            if isinstance(given, tuple):
                return ", ".join(str(value(place, each)) for each in given)
            if isinstance(given, str):
                return self._in_place(place, given, {**of, "category": own, "categories": own})
            return given

        return self.words.in_this_language(english, value)

    def _in_place(self, place: str, given: str, of: Mapping[str, str]) -> str:
        if place in _VARIABLES:
            return self.label(given)
        if place in DECIMALS and given[-1:].isdigit():
            return self.words.number(Fraction(given), len(given.partition(".")[2]))
        if place == "model":
            return self.words.translate(f"models_items_{given}")
        if place in _TERMS:
            return self.term(given)
        if place in _SENTENCES:
            return self.translate_note(
                given, **{key: name for key, name in of.items() if key not in ("category", "categories")}
            )
        return self.category(of.get(place, ""), given)
