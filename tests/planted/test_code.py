"""The proofs of the audit judge planted mechanisms and planted clients rightly, with the reason in words."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.exact_channel import Mismatch, check_claim, toss_distribution
from sottovoce.audit.python_code import (
    check_instructions,
    check_integers,
    check_python,
    check_python_refusals,
    plan,
    private,
)
from sottovoce.audit.run import check_javascript
from sottovoce.client import page
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.by_hand import own_coin
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question, Survey

from tests import documents
from tests.absences import by_hand, habits
from tests.planted.scripts import plant
from tests.surveys import document, every_type, survey

COIN = survey(questions=document()["questions"][:1])
TWO = survey(questions=[{**document()["questions"][0], "name": name} for name in ("first", "second")])
TOSSED = parse_survey(documents.survey(*by_hand(), privacy={"procedure": "own_coin"}))
HABITS = parse_survey(documents.survey(*habits()))
EVERY = survey(name="every", questions=every_type())

_PICK = RANDOMIZERS["binary_rr"]


def python(asked: Survey) -> list[Check]:
    """What the audit finds in the Python client."""
    tasks = [plan(question) for question in private(asked)]
    return [*(check_python(task) for task in tasks if task is not None), check_python_refusals(asked)]


def javascript(asked: Survey) -> list[Check]:
    """What it finds in the assembled scripts, under node."""
    tasks = [plan(question) for question in private(asked)]
    return check_javascript(asked, [task for task in tasks if task is not None], page.opened())


def failed(checks: Sequence[Check]) -> list[str]:
    assert NOT_DONE not in {check.outcome for check in checks}
    return [check.message for check in checks if check.outcome == FAILED]


@pytest.mark.parametrize("asked", [COIN, HABITS, EVERY], ids=["coin", "habits", "every"])
def test_clients_pass(asked: Survey) -> None:
    """Integers and every branch in both languages: nothing is wrong with any type or mechanism."""
    checks = [*map(check_integers, private(asked)), *python(asked), *javascript(asked)]

    assert failed(checks) == []
    assert {check.outcome for check in checks} == {PASSED}
    of_all = [check for check in checks if check.part in {"python", "javascript"} and check.scope.startswith("all")]
    exact = [check for check in of_all if check.epsilon is not None]
    assert len(exact) >= len(private(asked))
    assert [check.epsilon for check in exact] == pytest.approx([check.claim for check in exact], rel=1e-12)


def test_epsilon_of_code_is_that_of_the_claim() -> None:
    """Computed from the branches, for a coin: ln 3 in both languages."""
    for check in (python(COIN)[0], javascript(COIN)[0]):
        assert (check.outcome, check.scope) == (PASSED, "all 2 inputs")
        assert check.epsilon == pytest.approx(math.log(3), rel=1e-15)


Randomize = Callable[[Any, Any, Draws], int]


def biased(_mechanism: Any, value: int, draws: Draws) -> int:
    """The truth with .8 in place of .75."""
    return value if draws.below(5) < 4 else 1 - value


def catastrophic(mechanism: Any, value: int, draws: Draws) -> int:
    """The truth once in a thousand, else what it should."""
    return value if draws.below(1000) == 0 else _PICK(mechanism, value, draws)


def thirsty(mechanism: Any, value: int, draws: Draws) -> int:
    """Reads another byte for a yes, and throws it away."""
    if value:
        draws.below(256)
    return _PICK(mechanism, value, draws)


def truthful(mechanism: Any, value: int, draws: Draws) -> int:
    """Draws, and sends the truth."""
    _PICK(mechanism, value, draws)
    return value


def wild(mechanism: Any, value: int, draws: Draws) -> int:
    return _PICK(mechanism, value, draws) + 2


def endless(_mechanism: Any, value: int, draws: Draws) -> int:
    """Draws until something happens that need not happen."""
    while draws.below(2):
        pass
    return value


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (biased, "another distribution than the survey's is drawn from"),
        (catastrophic, "another distribution than the survey's is drawn from"),
        (thirsty, "what is read depends on the true answer"),
        (truthful, "a report rules a true answer out"),
        (wild, "a value is reported that the survey does not admit"),
    ],
)
def test_planted_randomizer_is_found(monkeypatch: pytest.MonkeyPatch, fault: Randomize, words: str) -> None:
    """By the exact distribution of the running code, whatever the chances to see it in samples."""
    monkeypatch.setitem(RANDOMIZERS, "binary_rr", fault)
    assert failed(python(COIN)) == [words]


def test_endless_randomizer_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code whose branches do not end is given up, and not passed."""
    monkeypatch.setitem(RANDOMIZERS, "binary_rr", endless)
    assert plan(COIN.questions[0]) is None


def test_unchecked_domain_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that hands on what is no answer."""
    monkeypatch.setattr(Question, "check", lambda *_: None)
    assert "what is no possible answer is not refused, or only after a draw" in failed([check_python_refusals(COIN)])


class LooseEnds(KaryRR):
    """Three options; the report of the last one is likelier than the claim of 2 says: 2.48."""

    @property
    def odds(self) -> Fraction:
        return Fraction(2)

    def weights(self, value: int) -> tuple[int, ...]:
        return ((200, 148, 100), (148, 200, 100), (100, 100, 248))[value]


def test_wrong_odds_at_an_end_are_found_in_the_integers() -> None:
    """2.48 claimed as 2."""
    asked = parse_survey(documents.survey(documents.one_of(3, {"name": "kary_rr", "odds": "2"}))).questions[0]
    assert check_integers(asked).outcome == PASSED
    forged: Mechanism = LooseEnds(Fraction(2), 3)
    check = check_integers(replace(asked, mechanism=forged))

    assert (check.outcome, check.message) == (FAILED, "the integers give worse odds than are claimed")


def test_claim_that_is_no_number_is_never_kept() -> None:
    """Nor one below the exact epsilon."""
    for claim in (math.nan, 1.0, -math.inf):
        with pytest.raises(Mismatch):
            check_claim(Fraction(3), claim)
    check_claim(Fraction(3), math.log(3))


FAULTS = {
    "bias": ("device/randomize.js", "return draws.pick(mechanism.weights(truth))",
             "return draws.below(5) < 4 ? truth : 1 - truth", "distribution|larger"),
    "truth": ("device/randomize.js", "return draws.pick(mechanism.weights(truth))",
              "draws.pick(mechanism.weights(truth));\n  return truth", "rules a true answer out"),
    "nothing": ("device/randomize.js", "return draws.pick(mechanism.weights(truth))",
                "return NaN", "no whole number"),
    "domain": (
        "survey/spec.js",
        'if (!this.kind.holds(this.domain, value)) throw new AnswerError("error_unexpected");',
               "", "is not refused"),
    "broken": ("device/randomize.js", "return draws.pick(mechanism.weights(truth));", "process.exit(0);",
               "do not run under node"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_planted_script_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path, right, wrong, words = FAULTS[name]
    plant(monkeypatch, [(path, right, wrong)])
    [message] = failed(javascript(COIN))

    assert any(word in message for word in words.split("|"))


def test_missing_node_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    [check] = javascript(COIN)

    assert (check.outcome, check.message) == (NOT_DONE, "node is not installed; the JavaScript client was not run")


def test_instructions_for_coins_and_dice_pass() -> None:
    """What each makes of all tosses is the mechanism's, in both languages; the device sends what was typed."""
    told = [(question, own_coin.procedure(question.mechanism)) for question in private(TOSSED) if question.mechanism]
    by_python = [check_instructions("python", question, procedure) for question, procedure in told]
    checks = [*by_python, *javascript(TOSSED)]

    assert failed(checks) == []
    assert [check.epsilon for check in by_python] == pytest.approx([math.log(3), math.log(2), math.log(2)])


@pytest.mark.parametrize(
    "found",
    [
        (2, [("truth", ["H"]), ("yes", ["TH"]), ("no", ["TT", "H"])]),
        (2, [("truth", ["H"]), ("yes", ["TH"])]),
        (2, [("truth", ["H", "TH"]), ("no", ["TT"])]),
        (0, [("truth", [1, 6])]),
        None,
    ],
)
def test_wrong_instructions_are_found(found: object) -> None:
    """A toss that is told twice or not at all, another distribution, or nothing."""
    assert check_instructions("python", TOSSED.questions[0], found).outcome == FAILED


def test_law_of_a_toss() -> None:
    """Heads, the truth; tails then heads, yes; tails twice, no."""
    parts = [("truth", ["H"]), ("yes", ["TH"]), ("no", ["TT"])]
    assert toss_distribution(2, parts, 1) == {1: Fraction(3, 4), 0: Fraction(1, 4)}
