"""What is wrong with a survey that came as a file, or may not follow the published one, is told in many languages."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import problems_of
from sottovoce.aggregator.i18n.translator import Words, catalogue
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.errors import SpecError

from tests.surveys import document

ROOT = Path(__file__).parents[4]
SHARED, SURVEYS = ROOT / "shared/sottovoce/shared", ROOT / "aggregator/sottovoce/aggregator/surveys"
SPOKEN = (
    *(SHARED / f"{name}.py" for name in ("checks", "parse_item", "parse_survey", "questions", "rational")),
    SHARED / "order/orders.py",
    *sorted((SHARED / "types").glob("*.py")),
    *sorted(SHARED.glob("mechanisms/*.py")),
    *(SURVEYS / f"{name}.py" for name in ("survey_file", "lifecycle")),
    ROOT / "aggregator/sottovoce/aggregator/invitations/key_file.py",
)
NAMES = {"told", "message", "reason", "must_be_whole", "found", "_MANY", "_ANY", "_NO_FILE"}
"""Under which modules keep a sentence before they say it."""
CALLS = {"Sentence", "ValueError", "SpecError", "Problem", "problem", "note", "_error"}
ELSEWHERE = {
    "the survey {error}",
    "the survey is not in canonical form",
    "the survey is not published: its access names no modulus",
    "is another wave's too: each wave has its own",
    "does not go with revision 1: it has none before it",
    "must be the 64 hexadecimal digits of the revision before; publishing fills them in",
    "the file is empty",
    "the file is larger than 4 MiB",
}
"""What devices, or the terminal, say; a draft carries neither the keys of its waves nor what it replaces."""


def _told(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Name(id="Sentence" | "ValueError" | "SpecError"), args=[ast.Constant(str(text)), *_]
            ):
                yield text
            case ast.Call(func=ast.Attribute(attr="problem" | "note"), args=[_, ast.Constant(str(text))]):
                yield text
            case ast.Call(func=ast.Name(id="Problem" | "_error"), args=[_, ast.Constant(str(text))]):
                yield text
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(str(text))) if name in NAMES and text:
                yield text
            case ast.Dict(keys=[ast.Constant(str("quoted scalar")), *_], values=hints):
                yield from (hint.value for hint in hints if isinstance(hint, ast.Constant))


def test_every_mistake_has_its_sentence() -> None:
    """Whatever the modules say that read surveys, unless no page shows it."""
    told = {text for path in SPOKEN for text in _told(path)}
    english = set(catalogue("en").values())
    assert told - english - ELSEWHERE == set()
    assert len(told & english) > 100


def test_no_mistake_is_put_together_out_of_sight_of_the_catalogues() -> None:
    """A text with values in it would stay English."""
    made = [ast.unparse(node.args[-1]) for path in SPOKEN for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[-1], ast.JoinedStr)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) in CALLS]  # fmt: skip
    assert made == ["f'the survey {error}'"]  # for devices


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('title: "open', "Zeile 1, Spalte 8: Das ist kein gültiges YAML: Das Anführungszeichen, das hier beginnt"),
        ("opens: yes", "Zeile 1, Spalte 8: yes, no, on und off müssen in Anführungszeichen stehen"),
        ("a: &b", "Zeile 1, Spalte 4: Anker und Verweise sind nicht erlaubt"),
    ],
)
def test_mistakes_of_writing_are_told_with_their_place(text: str, told: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_yaml(text.encode())

    assert Words("de").in_this_language(refused.value.problems[0].message).startswith(told)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"mechanism": {"name": "binary_rr", "a": "2/4", "b": "1/4"}}, "mechanism): a: muss gekürzt sein"),
        ({"mechanism": {"name": "laplace", "epsilon": "1"}}, "mechanism): Dieser Mechanismus passt nicht zu dieser"),
        ({"min": "0"}, "min): Eine Frage der Art boolean hat kein min"),
        ({"colour": "red"}, "colour): ist kein bekannter Schlüssel"),
        ({"when_absent": "perhaps"}, "when_absent): ist keine ihrer Möglichkeiten"),
    ],
)
def test_mistakes_of_a_question_are_told_with_its_key(changed: dict[str, object], told: str) -> None:
    asked = document()
    asked["questions"] = [{**asked["questions"][0], **changed}]
    found = [problem for problem in problems_of(draft_of(asked), "wrong") if problem.key == "other"]

    assert [told in Sentences(Words("de")).problem(problem) for problem in found] == [True]
