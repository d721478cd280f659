"""Absence never depends on the truth: what is hidden or refused is reported as the survey's fixed value would be."""

from typing import Any

import pytest
from sottovoce.audit.exact_channel import BranchingDraws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.spec import Question, Survey

from tests.absences import FULL, absences
from tests.property.channels import distribution, paths
from tests.vectors.items import CHANGES, own_coin_survey

SURVEY = absences()


class _Identified(BranchingDraws):
    """Draws with a report id that is not random, so that whole reports can be branched."""

    def identity(self) -> str:
        return "0" * 32


def position(survey: Survey, name: str) -> int:
    """Where the question's value stands in a report."""
    return [question.name for question in survey.questions].index(name)


def one_distribution(answers: dict[str, Any], question: Question) -> dict[int, Any]:
    """The exact distribution of one reported value, through encoding and the device's own randomizing."""
    index = position(SURVEY, question.name)
    values = encode(SURVEY, answers)
    alone = Survey(**{**vars_of(SURVEY), "questions": (question,), "items": ()})

    def run(draws: BranchingDraws) -> int:
        draws.identity = lambda: "0" * 32  # type: ignore[attr-defined]
        reported = randomize(alone, (values[index],), draws).values[0]
        assert reported is not None
        return reported

    assert {path.bounds for path in paths(run)}
    return distribution(run)


def vars_of(survey: Survey) -> dict[str, Any]:
    return {name: getattr(survey, name) for name in survey.__dataclass_fields__}


def hidden_by(answers: dict[str, Any]) -> list[Question]:
    """Questions that these answers hide or leave out: those whose own answer would change nothing."""
    values = encode(SURVEY, answers)
    found = []
    for index, question in enumerate(SURVEY.questions):
        if question.absent is None or values[index] != question.absent:
            continue
        others = [value for value in _answers_to(question) if question.encode(value) != question.absent]
        if answers.get(question.name) is None or all(
            encode(SURVEY, {**answers, question.name: other})[index] == question.absent for other in others
        ):
            found.append(question)
    return found


def _answers_to(question: Question) -> list[Any]:
    options = list(question.options[: len(question.options) - question.domain.absent])
    if question.kind.truth == "numbers":
        return [dict.fromkeys(options, "2"), dict.fromkeys(options, "4")]
    if question.domain.grid is not None:
        return ["0", "1", "4"]
    return [[option] for option in options] if question.kind.truth == "options" else options


@pytest.mark.parametrize("changed", CHANGES[1:], ids=str)
def test_hidden_report_is_distributed_as_the_fixed_value(changed: dict[str, Any]) -> None:
    """Exactly the channel's row of the fixed value, whatever had been answered before the question was hidden."""
    answers = {**FULL, **changed}
    hidden = hidden_by(answers)

    assert hidden
    for question in hidden:
        found = one_distribution(answers, question)
        assert question.mechanism is not None
        assert question.absent is not None
        for reported, probability in found.items():
            assert probability == question.mechanism.probability(reported, question.absent)


def test_bytes_read_are_the_same_for_every_truth() -> None:
    """One whole report after another: the same bounds in the same order, hidden, refused or answered."""
    read = set()
    for changed in CHANGES:
        draws = _Identified([])
        randomize(SURVEY, encode(SURVEY, {**FULL, **changed}), draws)
        read.add(tuple(draws.bounds))
    assert len(read) == 1
    assert len(next(iter(read))) >= len(SURVEY.questions) - 1


def test_own_coin_reads_nothing_but_the_id_and_sends_what_was_typed() -> None:
    """A second draw would be another channel; the report is the person's own."""
    survey = own_coin_survey()
    for q in ("yes", "no"):
        draws = _Identified([])
        report = randomize(survey, encode(survey, {"q": q, "m_r0": "no", "m_r1": "yes"}), draws)
        assert report.values == (int(q == "yes"), 0, 1)
        assert draws.bounds == []


def test_a_second_way_to_be_absent_would_be_found() -> None:
    """The check is not empty: a question whose absence is drawn from another row has another distribution."""
    question = SURVEY.questions[position(SURVEY, "quit")]
    assert one_distribution({**FULL, "brand": "c1"}, question) != one_distribution(FULL, question)
