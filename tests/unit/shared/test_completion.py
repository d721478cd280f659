"""What goes with the receipt: another end only by what everybody may see."""

from typing import Any

import pytest
from sottovoce.aggregator.planning.lint import oldest_release
from sottovoce.client.terminal.receipt import show_receipt
from sottovoce.shared.completion import ending
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import Report, dump_report

from tests.absences import COIN, asks
from tests.documents import survey
from tests.vectors.items import screened

OUT = "https://h.example/out"


def mistakes(when: object) -> list[tuple[str, str]]:
    asked = [asks("boolean", "student", public=True), asks("boolean", "smokes", mechanism=COIN)]
    with pytest.raises(SpecError) as raised:
        parse_survey(survey(*asked, after={"link": OUT, "screen_out": {"when": when, "link": OUT}}))
    return [(problem.pointer, str(problem.message)) for problem in raised.value.problems]


def test_private_question_is_refused_with_the_reason() -> None:
    """Also beside a public one."""
    [(pointer, message)] = mistakes({"student": "no", "smokes": "yes"})
    assert pointer == "/after/screen_out/when/smokes"
    assert "would give that answer away" in message


@pytest.mark.parametrize("when", [{}, "student", {"other": "yes"}, {"student": "maybe"}])
def test_other_mistakes_are_found(when: Any) -> None:
    assert len(mistakes(when)) == 1


@pytest.mark.parametrize(
    ("values", "is_out"),
    [((0, 2, 0, 0), True), ((0, 2, 2, 1), True), ((1, 2, 0, 0), False), ((0, 4, 0, 0), False), ((0, 2, 1, 0), False)],
)
def test_end_follows_from_public_values(
    values: tuple[int, ...], is_out: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of its conditions must hold, and the private value has no say; the terminal shows that end."""
    asked = screened()
    assert ("link" in ending(asked, values)) == is_out
    body = dump_report(Report(asked.name, asked.digest, 0, "0" * 32, values), asked).decode()
    show_receipt(asked, {"body": body, "sha256": "", "report_id": "", "digest": ""}, as_json=False)
    assert (OUT in capsys.readouterr().err) == is_out


def test_only_this_release_can_answer_it() -> None:
    found = oldest_release(screened())
    assert found[1] == ["screen_out"]
