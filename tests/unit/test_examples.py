"""The examples: a complete survey for each mechanism, each preset and each question type, every one of them good."""

from pathlib import Path

import yaml
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.mechanisms import MECHANISMS, PRESETS
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_item import DESIGNS
from sottovoce.shared.types import TYPES

from tests.commands import run

EXAMPLES = Path(__file__).parents[2] / "shared/sottovoce/examples"
FILES = sorted(path for path in EXAMPLES.glob("*/*.yaml") if path.parent.name != "curator")
WITHOUT_REPORT = ("matrix", "note", "acknowledge")
"""Kinds of items that are no questions of their own."""


def questions(path: Path) -> list[dict[str, object]]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))["questions"]


def test_every_example_is_a_good_survey() -> None:
    """It parses without a complaint, and devices allow what it costs."""
    for path in FILES:
        survey = read_survey_file(path)

        check_affordable(survey)
        assert survey.epsilon > 0, path


def test_every_mechanism_and_type_has_its_example_and_no_other() -> None:
    for name in [*MECHANISMS, *PRESETS, JointRR.name]:
        asked = questions(EXAMPLES / "mechanisms" / f"{name}.yaml")
        named = [question.get("mechanism", {}).get("name") for question in asked]  # type: ignore[attr-defined]
        assert name in [*named, *(question.get("procedure") for question in asked)]

    for name in [*TYPES, *WITHOUT_REPORT]:
        assert name in [question["type"] for question in questions(EXAMPLES / "question_types" / f"{name}.yaml")]

    assert {path.stem for path in FILES} == {*MECHANISMS, *PRESETS, JointRR.name, *DESIGNS, *TYPES, *WITHOUT_REPORT}


def test_list_names_each_template_and_example_in_a_line_of_its_own() -> None:
    """With what it shows: a sentence, of a template two, and no more."""
    lines = run("new", "--list").output.splitlines()

    assert sorted(line.split()[0] for line in lines) == sorted(
        [*(path.stem for path in FILES), *(template.name for template in all_templates())]
    )
    assert all(len(line.split()) > 4 and not line.endswith((".", "et al")) for line in lines)


def test_named_example_is_written_and_another_name_writes_nothing(tmp_path: Path) -> None:
    for name, written in [("warner", True), ("not_there", False)]:
        path = tmp_path / f"{name}.yaml"
        run("new", path, "--example", name)
        assert path.exists() == written
    assert (tmp_path / "warner.yaml").read_bytes() == (EXAMPLES / "mechanisms/warner.yaml").read_bytes()
