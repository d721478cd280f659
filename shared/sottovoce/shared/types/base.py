"""Base class of question types: the domain of true values, their parsing and their text."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeGuard

from sottovoce.shared.answers import Domain, Value
from sottovoce.shared.checks import Reader

MAX_CHOICES = 1000

Fields = Mapping[str, Any]
"""The document of a question."""


class QuestionType(ABC):
    """A type of question.

    Attributes:
        name: the type's name in a survey file.
        truth: the kind of its true values, one of ``answers.TRUTHS``; mechanisms, forms and estimates go by it.
        keys: the keys that describe its true values, with the JSON Schema of each.
        required: those of them that an author must give; the canonical survey always has them all.
        list_key: the one of them that lists options or coordinates by name and label, or "".
        most_choices: how many of these there may be.
        answer_schema: the JSON Schema of an answer.
        takes_category: ``absent_category`` can add an option, and a public question can be the cohort.
        may_be_public: the question can be asked openly.
        is_set: an answer names any number of the options, and its true value is a bit mask of them.
        single: one value, so that it can be a row of a matrix, and be named by conditions.
    """

    name: ClassVar[str]
    truth: ClassVar[str]
    keys: ClassVar[Mapping[str, Any]] = {}
    required: ClassVar[tuple[str, ...]] = ()
    list_key: ClassVar[str] = ""
    most_choices: ClassVar[int] = MAX_CHOICES
    answer_schema: ClassVar[Mapping[str, Any]] = {"type": "string"}
    takes_category: ClassVar[bool] = False
    may_be_public: ClassVar[bool] = True
    is_set: ClassVar[bool] = False
    single: ClassVar[bool] = True

    @abstractmethod
    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:
        """Return the document's true values, with these names of options or coordinates; None after a noted mistake."""

    def dump_domain(self, domain: Domain) -> dict[str, Any]:  # noqa: ARG002 - most have nothing more to say
        """Return the canonical ``keys`` but the list of names."""
        return {}

    @abstractmethod
    def encode(self, domain: Domain, answer: object) -> Value:
        """Return the true value of an answer; a ValueError repeats nothing of what is none."""

    @abstractmethod
    def answer(self, domain: Domain, value: Any) -> Any:  # noqa: ANN401 - as the type has it
        """Return the answer that has this true value, in its canonical spelling; ``encode`` reads it back."""

    @abstractmethod
    def holds(self, domain: Domain, value: object) -> bool:
        """Return True if this is a true value of the domain: a randomizer's epsilon holds for no other."""

    def check_exact(self, domain: Domain, answer: object) -> None:  # noqa: B027 - most have nothing to round
        """Refuse, by a ``ValueError``, an author's answer that ``encode`` would round: only a respondent's is."""

    def check_absent(self, value: Value) -> None:  # noqa: B027 - most allow every value
        """Refuse, by a ``ValueError``, a true value that may not stand for no answer."""


def is_below(value: object, bound: int) -> TypeGuard[int]:
    """Return True for an integer (not a bool) from 0 to ``bound`` - 1."""
    return type(value) is int and 0 <= value < bound
