"""Every mechanism and question type exists in each of its places; every public name is the one that was agreed."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
import sottovoce.client
from sottovoce.aggregator.estimators import ESTIMATORS, VARIABLES
from sottovoce.aggregator.planning.number_channel import SCORED
from sottovoce.cli.main import VERBS
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.answers import TRUTHS
from sottovoce.shared.mechanisms import MECHANISMS, PRESETS
from sottovoce.shared.types import TYPES

ROOT = Path(__file__).parents[2]
BUNDLES = "".join(path.read_text("utf-8") for path in (ROOT / "client/sottovoce/client/web/bundles").glob("*.js"))


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_has_all_its_parts(name: str) -> None:
    """A mechanism is a file in five places, a line in each registry and a folder of vectors."""
    assert name in RANDOMIZERS
    assert name in ESTIMATORS
    assert name in VARIABLES
    assert MECHANISMS[name].name == name
    for package, file in [
        ("sottovoce.shared.mechanisms", f"{name}.py"),
        ("sottovoce.client.randomizers", f"{name}.py"),
        ("sottovoce.client.web", f"device/randomizers/{name}.js"),
        ("sottovoce.client.web", f"survey/mechanisms/{name}.js"),
        ("sottovoce.aggregator.estimators", f"{name}.py"),
    ]:
        assert files(package).joinpath(file).is_file(), f"{package}/{file}"
    # Its class and its randomizer.
    assert len(re.findall(rf"\b{name}: \w+\b", BUNDLES)) == 2
    for vectors in ("randomize.json", "estimate.json", "bad.json"):
        assert files("sottovoce.shared").joinpath("vectors", name, vectors).is_file()


@pytest.mark.parametrize("name", TYPES)
def test_question_type_has_all_its_parts(name: str) -> None:
    """A type is a file, its twin, and a line in each registry."""
    assert TYPES[name].name == name
    assert TYPES[name].truth in TRUTHS
    assert files("sottovoce.shared.types").joinpath(f"{name}.py").is_file()
    assert files("sottovoce.client.web").joinpath(f"survey/types/{name}.js").is_file()
    assert re.search(rf"\b{name}: \w+Type\b", BUNDLES)


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


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_docstring_is_its_page_of_maths(name: str) -> None:
    """The module says channel, epsilon, estimator, variance and sources."""
    page = files("sottovoce.shared.mechanisms").joinpath(f"{name}.py").read_text(encoding="utf-8").split('"""')[1]
    for heading in ("Channel", "Epsilon", "Estimator", "Variance", "Sources"):
        assert f"\n{heading}\n" in page


def test_registries_hold_nothing_else() -> None:
    """No registry knows a mechanism that the others do not."""
    assert set(RANDOMIZERS) == set(MECHANISMS) == set(ESTIMATORS) == set(VARIABLES)
    assert set(PRESETS.values()) <= set(MECHANISMS)


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_can_be_planned(name: str) -> None:
    """A mechanism for numbers has its scores in a registry; every other one has the two support probabilities."""
    for_numbers = MECHANISMS[name].serves in {"number", "numbers"}
    assert (name in SCORED) == for_numbers
    assert for_numbers or hasattr(MECHANISMS[name], "support")
    assert set(SCORED) <= set(MECHANISMS)


def test_client_public_names_are_the_agreed_ones() -> None:
    """The client's face is three names."""
    assert sottovoce.client.__all__ == ["FileLedger", "MemoryLedger", "Respondent"]


def test_every_verb_has_a_line_of_help() -> None:
    """The list of verbs is made of these, and imports nothing."""
    assert all(0 < len(line) < 68 for _, line in VERBS.values())


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
REFERENCE = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))


@pytest.mark.parametrize("word", [*VERBS, *MECHANISMS, *PRESETS, *TYPES])
def test_reference_names_every_verb_mechanism_and_question_type(word: str) -> None:
    """What exists is documented."""
    assert re.search(rf"`(sottovoce )?{word}[ `]", REFERENCE)


def test_reference_lists_all_its_pages() -> None:
    """No page is without a line in the list, and every link within the documents leads somewhere."""
    listed = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert [path.name for path in pages if f"({path.name})" not in listed] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    """A relative link names a file that exists."""
    prose = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)", prose)
    assert [target for target in targets if not (path.parent / target).exists()] == []
