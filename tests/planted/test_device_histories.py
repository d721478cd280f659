"""Sets of questions, waves and memos: the audit judges honest and planted clients rightly, in both languages."""

from collections.abc import Sequence
from typing import Any

import pytest
from sottovoce.audit import histories
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.histories import ASKED, PARTLY, check_histories, check_set, histories_of
from sottovoce.audit.python_code import check_integers, check_python_refusals, private
from sottovoce.audit.randomness import SOURCE
from sottovoce.audit.run import check_javascript
from sottovoce.client import page, randomizers, respondent
from sottovoce.client.memo import draw_memo
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question, Survey

from tests.conformance.wire_runs import IDENTITY
from tests.documents import names, one_of, question, survey
from tests.planted.scripts import plant
from tests.planted.test_code import failed
from tests.surveys import months

WHOLE = {IDENTITY, SOURCE}
"""Of the client, not of its histories."""

COIN = {"name": "coin_flip"}
GROUP = {"type": "select_one", "name": "group", "label": {"en": "G"}, "choices": names(2), "public": True}
MEMO = {"name": "memoized_rr", "permanent": COIN, "instantaneous": COIN, "waves": 3}
PARTS = parse_survey(survey(*({**question(COIN), "name": f"q{place}"} for place in range(4)), GROUP, ask=2))
PANEL = parse_survey(survey({**one_of(3, {"name": "kary_rr", "odds": "3"}), "name": "fresh"}, waves=months(2)))
MEMOIZED = parse_survey(survey(question(MEMO), waves=months(3)))


def python(asked: Survey) -> list[Check]:
    """What the audit finds in the histories of the Python client."""
    found, lacking = histories_of(asked)
    return [*check_set(asked), *check_histories(found), *lacking, check_python_refusals(asked)]


def javascript(asked: Survey) -> list[Check]:
    """What it finds in those of the assembled scripts, under node."""
    return check_javascript(asked, [], page.opened(), histories_of(asked)[0])


def subjects(checks: Sequence[Check]) -> list[str]:
    return [check.subject for check in checks if check.outcome == FAILED]


@pytest.mark.parametrize(
    ("asked", "told"),
    [(PARTS, [ASKED, PARTLY]), (PANEL, ["fresh in two waves"]), (MEMOIZED, ["q in two waves"])],
    ids=["ask", "waves", "memo"],
)
def test_clients_pass(asked: Survey, told: list[str]) -> None:
    """Every branch of whole histories in both languages."""
    by_language = [python(asked), javascript(asked)]
    checks = [*map(check_integers, private(asked)), *by_language[0], *by_language[1]]

    assert {check.outcome: check for check in checks} == {PASSED: checks[-1]}
    for found in by_language:
        assert [check.subject for check in found if check.subject not in WHOLE] == [*told, "impossible answers"]


def test_figures_are_those_of_the_waves() -> None:
    """Two of three waves under a memo, in both languages; all three from the integers."""
    [integers] = map(check_integers, private(MEMOIZED))
    of_two = [python(MEMOIZED)[0], javascript(MEMOIZED)[0]]

    assert integers.scope == "all 8 reports of 3 waves x 8 courses of the truth"
    assert [round(check.epsilon or 0, 3) for check in (integers, *of_two)] == [1.358, 1.022, 1.022]
    assert python(PANEL)[0].epsilon == pytest.approx(2 * PANEL.epsilon, rel=1e-12)


def test_set_that_follows_an_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a yes to the first question is asked it."""
    encode = respondent.encode

    def telling(asked: Survey, answers: Any, places: Any) -> Any:
        first = answers[asked.questions[0].name] == "yes" and 0 not in places
        return encode(asked, answers, (0, *places[1:]) if first else places)

    monkeypatch.setattr(respondent, "encode", telling)
    assert subjects(python(PARTS)) == [PARTLY]


def test_set_that_is_not_drawn_evenly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Always the first ones."""
    monkeypatch.setattr(histories, "draw_asked", lambda _asked, _draws: (0, 1, 4))
    [message] = failed(list(check_set(PARTS)))

    assert message == "not every set of questions is equally likely"


def test_memo_drawn_anew_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One report says nothing of it."""
    monkeypatch.setattr(respondent, "keep_memo", lambda _ledger, _key, asked, draws: draw_memo(asked, draws))

    assert subjects(python(MEMOIZED)) == ["q in two waves"]


def test_report_that_looks_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second wave has the first one's noise: whether the reports differ is whether the truths do."""
    noise: list[int] = []

    def lazy(mechanism: Any, value: int, draws: Any) -> int:
        noise.append(draws.pick(mechanism.weights(0)))
        return (value + noise[(len(noise) - 1) // 2 * 2]) % 3

    monkeypatch.setitem(randomizers.RANDOMIZERS, "kary_rr", lazy)
    assert subjects(python(PANEL)) == ["fresh in two waves"]


@pytest.mark.parametrize("asked", [PARTS, MEMOIZED], ids=["ask", "memo"])
def test_unchecked_domain_is_found(monkeypatch: pytest.MonkeyPatch, asked: Survey) -> None:
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


FAULTS: dict[str, tuple[Survey, str, str, str, str]] = {
    "set": (PARTS, "device/question_sample.js", "place + draws.below(places.length - place)",
            "place + 0 * draws.below(places.length - place)", ASKED),
    "answer": (PARTS, "device/answer_path.js", "await this.#respondent.asked());",
               'answers.q0 === "yes" ? [0, 1] : await this.#respondent.asked());', PARTLY),
    "memo": (MEMOIZED, "device/memo.js", "const stored = await checkMemo({ key, ledger, survey, transport });",
             "const stored = drawMemo(survey, draws);", "q in two waves"),
    "wave": (PANEL, "device/answer_path.js", "key[2], memo", "0, memo", "fresh in two waves"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_planted_script_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked, path, right, wrong, subject = FAULTS[name]
    plant(monkeypatch, [(path, right, wrong)])
    assert subject in subjects(javascript(asked))
