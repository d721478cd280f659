"""Proofs of the audit: planted mechanisms, clients and histories are judged rightly, with the reason in words."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from sottovoce.audit import histories
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.exact_channel import Mismatch, check_claim, toss_distribution
from sottovoce.audit.histories import ASKED, PARTLY, check_histories, check_set, histories_of
from sottovoce.audit.python_code import (
    check_instructions,
    check_integers,
    check_python,
    check_python_refusals,
    plan,
    private,
)
from sottovoce.audit.randomness import SOURCE
from sottovoce.audit.run import check_javascript
from sottovoce.client import page, randomizers, respondent
from sottovoce.client.draws import Draws
from sottovoce.client.memo import draw_memo
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.by_hand import own_coin
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question, Survey

from tests import documents
from tests.absences import by_hand, habits
from tests.conformance.wire_runs import IDENTITY
from tests.documents import names, one_of, question
from tests.planted.scripts import plant
from tests.surveys import document, every_type, months, survey

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
    monkeypatch.setitem(RANDOMIZERS, "binary_rr", endless)
    assert plan(COIN.questions[0]) is None


def test_unchecked_domain_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
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


WHOLE = {IDENTITY, SOURCE}
"""Of the client, not of its histories."""

FLIP = {"name": "coin_flip"}
GROUP = {"type": "select_one", "name": "group", "label": {"en": "G"}, "choices": names(2), "public": True}
MEMO = {"name": "memoized_rr", "permanent": FLIP, "instantaneous": FLIP, "waves": 3}
PARTS = parse_survey(documents.survey(*({**question(FLIP), "name": f"q{place}"} for place in range(4)), GROUP, ask=2))
PANEL = parse_survey(
    documents.survey({**one_of(3, {"name": "kary_rr", "odds": "3"}), "name": "fresh"}, waves=months(2))
)
MEMOIZED = parse_survey(documents.survey(question(MEMO), waves=months(3)))


def python_histories(asked: Survey) -> list[Check]:
    found, lacking = histories_of(asked)
    return [*check_set(asked), *check_histories(found), *lacking, check_python_refusals(asked)]


def javascript_histories(asked: Survey) -> list[Check]:
    """What it finds in those of the assembled scripts, under node."""
    return check_javascript(asked, [], page.opened(), histories_of(asked)[0])


def subjects(checks: Sequence[Check]) -> list[str]:
    return [check.subject for check in checks if check.outcome == FAILED]


@pytest.mark.parametrize(
    ("asked", "told"),
    [(PARTS, [ASKED, PARTLY]), (PANEL, ["fresh in two waves"]), (MEMOIZED, ["q in two waves"])],
    ids=["ask", "waves", "memo"],
)
def test_clients_histories_pass(asked: Survey, told: list[str]) -> None:
    by_language = [python_histories(asked), javascript_histories(asked)]
    checks = [*map(check_integers, private(asked)), *by_language[0], *by_language[1]]

    assert {check.outcome: check for check in checks} == {PASSED: checks[-1]}
    for found in by_language:
        assert [check.subject for check in found if check.subject not in WHOLE] == [*told, "impossible answers"]


def test_figures_are_those_of_the_waves() -> None:
    """Two of three waves under a memo, in both languages; all three from the integers."""
    [integers] = map(check_integers, private(MEMOIZED))
    of_two = [python_histories(MEMOIZED)[0], javascript_histories(MEMOIZED)[0]]

    assert integers.scope == "all 8 reports of 3 waves x 8 courses of the truth"
    assert [round(check.epsilon or 0, 3) for check in (integers, *of_two)] == [1.358, 1.022, 1.022]
    assert python_histories(PANEL)[0].epsilon == pytest.approx(2 * PANEL.epsilon, rel=1e-12)


def test_set_that_follows_an_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a yes to the first question is asked it."""
    encode = respondent.encode

    def telling(asked: Survey, answers: Any, places: Any) -> Any:
        first = answers[asked.questions[0].name] == "yes" and 0 not in places
        return encode(asked, answers, (0, *places[1:]) if first else places)

    monkeypatch.setattr(respondent, "encode", telling)
    assert subjects(python_histories(PARTS)) == [PARTLY]


def test_set_that_is_not_drawn_evenly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Always the first ones."""
    monkeypatch.setattr(histories, "draw_asked", lambda _asked, _draws: (0, 1, 4))
    [message] = failed(list(check_set(PARTS)))

    assert message == "not every set of questions is equally likely"


def test_memo_drawn_anew_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One report says nothing of it."""
    monkeypatch.setattr(respondent, "keep_memo", lambda _ledger, _key, asked, draws: draw_memo(asked, draws))

    assert subjects(python_histories(MEMOIZED)) == ["q in two waves"]


def test_report_that_looks_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second wave has the first one's noise: whether the reports differ is whether the truths do."""
    noise: list[int] = []

    def lazy(mechanism: Any, value: int, draws: Any) -> int:
        noise.append(draws.pick(mechanism.weights(0)))
        return (value + noise[(len(noise) - 1) // 2 * 2]) % 3

    monkeypatch.setitem(randomizers.RANDOMIZERS, "kary_rr", lazy)
    assert subjects(python_histories(PANEL)) == ["fresh in two waves"]


@pytest.mark.parametrize("asked", [PARTS, MEMOIZED], ids=["ask", "memo"])
def test_unchecked_domain_is_found_in_histories(monkeypatch: pytest.MonkeyPatch, asked: Survey) -> None:
    """Not refused because other questions have no answer, but because the one has a wrong one."""
    monkeypatch.setattr(Question, "check", lambda *_: None)
    assert "impossible answers" in subjects([check_python_refusals(asked)])


def test_client_that_refuses_everything_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing impossible passes it, nor does anything else."""
    monkeypatch.setattr(Survey, "asks_for", lambda *_: False)
    assert failed([check_python_refusals(PARTS)]) == ["answers that are possible are refused"]


def test_what_cannot_be_followed_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "MOST", 1)
    found, [check] = histories_of(PANEL)

    assert found == []
    assert (check.outcome, check.subject) == (NOT_DONE, "fresh in two waves")


LATER_FAULTS: dict[str, tuple[Survey, str, str, str, str]] = {
    "set": (PARTS, "device/question_sample.js", "place + draws.below(places.length - place)",
            "place + 0 * draws.below(places.length - place)", ASKED),
    "answer": (PARTS, "device/answer_path.js", "await this.#respondent.asked());",
               'answers.q0 === "yes" ? [0, 1] : await this.#respondent.asked());', PARTLY),
    "memo": (MEMOIZED, "device/memo.js", "const stored = await checkMemo({ key, ledger, survey, transport });",
             "const stored = drawMemo(survey, draws);", "q in two waves"),
    "wave": (PANEL, "device/answer_path.js", "key[2], memo", "0, memo", "fresh in two waves"),
}  # fmt: skip


@pytest.mark.parametrize("name", LATER_FAULTS)
def test_planted_script_is_found_in_histories(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked, path, right, wrong, subject = LATER_FAULTS[name]
    plant(monkeypatch, [(path, right, wrong)])
    assert subject in subjects(javascript_histories(asked))
