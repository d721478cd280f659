"""The small surveys on which an audit follows whole lives of a device; they stand in for the audited one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.audit.python_code import standing_in
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

from tests.conformance.signing_keys import MODULI


@dataclass(frozen=True)
class Scenario:
    """A small survey to follow, its second version, and the answers of two truths; ``words`` describe it."""

    name: str
    words: str
    survey: Survey
    corrected: Survey
    answers: tuple[Mapping[str, object], Mapping[str, object]]

    @property
    def epsilon(self) -> float:
        return self.survey.epsilon


def _scenario(name: str, words: str, answers: tuple[Mapping[str, object], ...], **more: Any) -> Scenario:
    first = standing_in(*_ITEMS[name], **more)
    second = standing_in(*_ITEMS[name], **more, revision=2, replaces=first.digest)
    return Scenario(name, words, first, second, answers)  # type: ignore[arg-type]


_COIN = {"type": "boolean", "mechanism": {"name": "coin_flip"}}
_GROUP = {"type": "select_one", "name": "group", "choices": [{"name": "a"}, {"name": "b"}], "public": True}
_ITEMS: dict[str, list[dict[str, Any]]] = {
    "one question, one wave": [{**_COIN, "name": "q"}],
    "links, a condition, ask 1 of 2, two waves": [
        _GROUP,
        {**_COIN, "name": "p"},
        {**_COIN, "name": "q", "visible_if": {"group": "a"}, "when_absent": "no"},
    ],
    "links that nobody can tell apart, two waves": [{**_COIN, "name": "q"}],
}
_YEARS = [{"opens": f"{2001 + wave}-01-01T00:00:00Z", "closes": f"{2002 + wave}-01-01T00:00:00Z"} for wave in (0, 1)]


def scenarios() -> list[Scenario]:
    ordinary, rich, _ = _ITEMS
    both = tuple({"group": "a", "p": word, "q": word} for word in ("no", "yes"))
    return [
        _scenario(ordinary, "an open survey of one coin", ({"q": "no"}, {"q": "yes"})),
        _scenario(rich, "a survey for invited people", both, ask=1, access="token", waves=_YEARS),
    ]


def signed_scenario() -> Scenario:
    """The small survey that is followed beside them where reports come with a signature."""
    *_, name = _ITEMS
    keys = [spell_modulus(modulus) for modulus in MODULI[: len(_YEARS)]]
    words = "a survey whose invitations are redeemed"
    return _scenario(name, words, ({"q": "no"}, {"q": "yes"}), access={"blind": keys}, waves=_YEARS)
