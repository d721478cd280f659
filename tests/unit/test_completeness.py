"""Every mechanism and question type exists in each of its places; every public name is the one that was agreed."""

import re
import subprocess
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from sottovoce.aggregator.estimators import VARIABLES
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.answers import TRUTHS
from sottovoce.shared.mechanisms import MECHANISMS, PRESETS
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.types import TYPES

ROOT = Path(__file__).parents[2]
WEB = "".join(path.read_text("utf-8") for path in sorted((ROOT / "client/sottovoce/client/web").rglob("*.js")))


def missing(places: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(package, file) for package, file in places if not files(package).joinpath(file).is_file()]


def test_every_mechanism_has_all_its_parts() -> None:
    """A mechanism is a file, a randomizer, twins, a line in each registry, an example and vectors."""
    # Data that other programs collected come through any matrix, which no survey can ask for; a block's mechanism is
    # for no question alone.
    others = {"matrix", JointRR.name}
    assert set(RANDOMIZERS) == set(MECHANISMS) == set(VARIABLES) - others
    assert set(PRESETS.values()) <= set(MECHANISMS)
    assert [name for name in MECHANISMS if MECHANISMS[name].name != name] == []
    places = [
        ("sottovoce.shared.mechanisms", "{}.py"),
        ("sottovoce.examples", "mechanisms/{}.yaml"),
        *(("sottovoce.shared", f"vectors/{{}}/{part}.json") for part in ("randomize", "estimate", "bad")),
    ]
    assert missing([(package, file.format(name)) for package, file in places for name in MECHANISMS]) == []
    # That each has a randomizer in the browser is tested there.
    assert sorted(re.findall(r'mechanismName = "(\w+)"', WEB)) == sorted(MECHANISMS)


def test_every_question_type_has_all_its_parts() -> None:
    assert [name for name in TYPES if TYPES[name].name != name or TYPES[name].truth not in TRUTHS] == []
    assert sorted(re.findall(r'typeName = "(\w+)"', WEB)) == sorted(TYPES)


@pytest.mark.parametrize("page", ["adding_a_mechanism", "adding_a_question_type"])
def test_page_on_adding_is_true_to_the_line(page: str) -> None:
    """Every file that it names is there, and every line that it quotes stands in its file."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")

    named = set(re.findall(r"`([\w./]+/[\w.]+\.(?:py|js|json|md))`", text))
    quoted = re.findall(r"```\w+\n(?:#|//) (\S+)\n(.*?)```", text, re.DOTALL)
    assert len(named) > 5
    assert len(quoted) == text.count("```") // 2 > 3
    assert [path for path in named if not (ROOT / path).is_file()] == []
    for path, lines in quoted:
        source = (ROOT / path).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines.splitlines() if line not in source] == [], path


def test_docstring_of_every_mechanism_is_its_page_of_maths() -> None:
    folder = files("sottovoce.shared.mechanisms")
    pages = {name: folder.joinpath(f"{name}.py").read_text(encoding="utf-8").split('"""')[1] for name in MECHANISMS}
    headings = ("Channel", "Epsilon", "Estimator", "Variance", "Sources")
    assert [(name, each) for name in pages for each in headings if f"\n{each}\n" not in pages[name]] == []


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
REFERENCE = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))


def test_reference_names_every_mechanism_and_question_type() -> None:
    words = [*MECHANISMS, *PRESETS, *TYPES]
    assert [word for word in words if not re.search(rf"`(sottovoce )?{word}[ `]", REFERENCE)] == []


def test_reference_lists_all_its_pages() -> None:
    listed = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    unlisted = {page for page in pages if f"({page})" not in listed}
    # Decisions and the pages of the course have lists of their own.
    assert unlisted - {"README.md"} == {
        page for page in pages if page.startswith(("decisions/0", "course/0", "course/1"))
    }


def test_links_between_documents_lead_somewhere() -> None:
    prose = {path: re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL) for path in DOCUMENTS}
    links = [(path, target) for path, text in prose.items()
             for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)", text)]  # fmt: skip
    assert links
    assert [(path, target) for path, target in links if not (path.parent / target).exists()] == []


def test_version_differs_from_the_former_release() -> None:
    """A file that names its version tells which of the two wrote it."""
    commit = (ROOT / "tests/journey/previous_release.txt").read_text(encoding="ascii").strip()
    command = ["git", "-C", str(ROOT), "show", f"{commit}:pyproject.toml"]
    former = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    present = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert tomllib.loads(former)["project"]["version"] != tomllib.loads(present)["project"]["version"]
