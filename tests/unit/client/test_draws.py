"""Bytes to integers: uniform, by rejection, and loud when randomness runs short."""

import ast
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from sottovoce import client, shared
from sottovoce.client.draws import Draws
from sottovoce.client.ledger import Key, MemoryLedger
from sottovoce.client.respondent import draw_order, keep_order
from sottovoce.client.terminal.interview import Interview
from sottovoce.shared.errors import BudgetExhausted, SpecError
from sottovoce.shared.order.orders import OrderedList, arrange, ordered_lists
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.single_question import asked_alone, parse_question

from tests.absences import COIN, asks
from tests.documents import names, survey
from tests.unit.client.fakes import reading
from tests.vectors.cases import bad_changes
from tests.vectors.order import mixed, plain


@pytest.mark.parametrize(
    ("bound", "data", "value"),
    [
        (1, "", 0),
        (2, "ff", 1),
        (2, "fe", 0),
        (3, "02", 2),
        (3, "0302", 2),
        (3, "ff03fb01", 1),
        (255, "ff00", 0),
        (256, "ff", 255),
        (257, "01ff0100", 256),
        (257, "ffff0101fffe0000", 0),
        (2**32 - 1, "fffffffffffffffe", 2**32 - 2),
        (2**32, "ffffffff", 2**32 - 1),
    ],
)
def test_below_rejects_exactly_from_the_bound_on(bound, data, value):
    """Beside the boundary: the last accepted and the first rejected value, and how many bytes each takes."""
    source = reading(bytes.fromhex(data))

    assert Draws(source).below(bound) == value
    assert not source.rest


@pytest.mark.parametrize("bound", [2, 3, 5, 6, 12, 255, 256])
def test_below_is_uniform_over_all_bytes(bound):
    """Over all 256 first bytes each value is met equally often, and the rest is rejected."""
    counts = Counter()
    for first in range(256):
        source = reading(bytes([first, 0]))
        value = Draws(source).below(bound)
        if len(source.rest) == 1:
            counts[value] += 1

    assert set(counts) == set(range(bound))
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize("bound", [0, -1, 2**32 + 1, 2**64])
def test_below_refuses_a_bound_that_no_survey_has(bound):
    """A larger bound would loop for ever in a language with 32-bit draws."""
    with pytest.raises(ValueError, match="bound"):
        Draws(reading(b"")).below(bound)


def test_pick_walks_the_weights_and_refuses_those_without_a_sum():
    """Every draw below the sum lands on the index that owns it; zero weights own nothing."""
    weights = (3, 0, 1, 4)

    picked = [Draws(reading(bytes([u]))).pick(weights) for u in range(8)]

    assert picked == [0, 0, 0, 2, 3, 3, 3, 3]

    with pytest.raises(ValueError, match="bound"):
        Draws(reading(b"")).pick((0, 0))


@pytest.mark.parametrize("given", [b"", b"\x01"])
def test_short_read_is_an_error(given):
    """Zeros in the place of missing bits would make the noise predictable."""
    with pytest.raises(ValueError, match="too few bytes"):
        Draws(lambda _: given).identity()


def test_identity_is_sixteen_bytes():
    assert Draws(reading(bytes(range(240, 256)))).identity() == "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"


def test_only_draws_imports_randomness():
    packages = [Path(module.__file__).parent for module in (client, shared)]
    importers = set()
    for path in (path for package in packages for path in package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.split(".")[0] for name in names} & {"random", "secrets", "numpy", "uuid"}:
                importers.add(path.name)

    assert importers == {"draws.py"}


KEY = Key("https://a.example", "s", 0, "")


class Branch(Draws):
    """Takes given branches, and then the first of each; ``weights`` has how many there were."""

    def __init__(self, path: tuple[int, ...]) -> None:
        super().__init__()
        self.path = path
        self.weights: list[int] = []

    def below(self, bound: int) -> int:
        self.weights.append(bound)
        return self.path[len(self.weights) - 1] if len(self.weights) <= len(self.path) else 0


def law(ordered: OrderedList) -> dict[tuple[int, ...], Fraction]:
    """The exact distribution of the running code."""
    found: Counter[tuple[int, ...]] = Counter()

    def follow(path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        branch = Branch(path)
        drawn = draw_order(ordered, branch)
        if len(branch.weights) == len(path):
            chance = Fraction(1)
            for bound in branch.weights:
                chance /= bound
            yield drawn, chance
            return
        for choice in range(branch.weights[len(path)]):
            yield from follow((*path, choice))

    for drawn, chance in follow(()):
        found[drawn] += chance  # type: ignore[assignment]
    return dict(found)  # type: ignore[arg-type]


def test_every_order_is_equally_likely_and_names_that_stay_are_last() -> None:
    """Of five that may move, 120; of a scale, two."""
    chances = law(OrderedList(0, "random", tuple("abcdefg"), ("c", "a")))
    assert chances == dict.fromkeys(permutations(range(5)), Fraction(1, 120))
    assert law(OrderedList(0, "reversed_half", tuple("abc"))) == dict.fromkeys([(0, 1, 2), (2, 1, 0)], Fraction(1, 2))

    assert OrderedList(0, "random", tuple("abcd"), ("c", "a")).shown((1, 0)) == (3, 1, 2, 0)


@pytest.mark.parametrize("reason_first", [False, True])
def test_item_waits_for_what_its_condition_names(reason_first: bool) -> None:
    made = mixed()
    lists = ordered_lists(made)
    # Units: reason, fear, both (stays last), mood, habits; of the four that move fear is drawn first, or second.
    first = (0, 1, 3, 2) if reason_first else (1, 2, 0, 3)
    items = arrange(made, [lists[0]], [first]).items
    shown = [made.items[index].name for index in items]
    assert shown.index("reason") < shown.index("fear")
    assert shown.index("intro") == shown.index("reason") - 1
    assert shown[-3:] == ["x", "y", "end"]
    assert sorted(items) == list(range(len(made.items)))


def test_order_is_kept_and_another_one_is_not_believed() -> None:
    """A ledger that was written by another program names no order."""
    made, ledger = mixed(), MemoryLedger()
    first = keep_order(ledger, KEY, made, Draws())
    assert all(keep_order(ledger, KEY, made, Draws()) == first for _ in range(5))

    class Written(MemoryLedger):
        def prepare(self, *_: object) -> tuple[int, ...]:
            return (0, 0, 1)

    with pytest.raises(BudgetExhausted):
        keep_order(Written(), KEY, plain(), Draws())


def test_survey_without_order_draws_nothing() -> None:
    made = parse_survey(survey(asks("boolean", "q", mechanism=COIN)))
    shown = keep_order(MemoryLedger(), KEY, made, Draws(lambda _: pytest.fail("read")))
    assert (shown.items, dict(shown.lists)) == ((0,), {})


def test_terminal_asks_in_that_order_and_answers_are_the_survey_s(monkeypatch: pytest.MonkeyPatch) -> None:
    made = parse_survey(survey(
        asks("select_one", "reason", choices=names(3), mechanism={"epsilon": "1"}, absent_category=True,
             order="random"),
        asks("boolean", "fear", mechanism=COIN, when_absent="no", visible_if={"reason": "c1"}),
        asks("boolean", "other", mechanism=COIN), order="random"))  # fmt: skip
    asked: list[str] = []

    def first_option(_survey: object, question: object, number: int, total: int) -> object:
        asked.append(question.name)  # type: ignore[attr-defined]
        assert (number, total) == (len(asked), 3)
        return question.options[0]  # type: ignore[attr-defined]

    monkeypatch.setattr("sottovoce.client.terminal.interview.ask", first_option)
    lists = ordered_lists(made)
    interview = Interview(made, order=arrange(made, lists, [(2, 0, 1), (1, 2, 0)]))
    interview.run()
    assert asked == ["other", "reason", "fear"]
    assert interview.answers == {"reason": "c1", "fear": "no", "other": "no"}
    assert made.encode(interview.answers) == (1, 0, 0)


def test_canonical_survey_is_read_back_and_bad_orders_are_refused() -> None:
    text = mixed().canonical
    assert load_survey(text).digest == mixed().digest
    for right, wrong in bad_changes("order.json", text.decode()):
        with pytest.raises(SpecError):
            load_survey(text.decode().replace(right, wrong).encode())


def test_single_question_has_no_order() -> None:
    """A frame in another page keeps none; a survey's question goes there without it."""
    asked = asks("boolean", "q", mechanism=COIN, order="random")
    with pytest.raises(SpecError):
        parse_question(asked)
    assert [each.name for each in asked_alone(parse_survey(survey(asked)))] == ["q"]
