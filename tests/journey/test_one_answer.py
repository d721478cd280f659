"""The page that tells the path of an answer."""

from pathlib import Path

from tests.journey import one_answer


def test_the_page_has_the_ten_steps_of_the_path_in_their_order() -> None:
    path = one_answer.PAGE.read_text(encoding="utf-8").split("\n")[2].replace("||", "->").split("->")
    headings = [heading.split(". ")[1].lower() for heading, _ in one_answer.steps()[1:]]

    assert headings == [word.strip() for word in path]
    assert len(headings) == 10


def test_the_code_of_the_page_takes_one_answer_to_its_estimate(tmp_path: Path) -> None:
    told: list[str] = []
    names = one_answer.run(tmp_path, told.append)

    assert told == [heading for heading, _ in one_answer.steps()]
    assert all(code for _, code in one_answer.steps())
    assert names["share"].raw in (-0.5, 1.5)
    assert names["again"] == names["receipt"]
