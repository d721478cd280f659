"""Every mechanism exists in each of its places; every public name is the one that was agreed."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
import sottovoce.client
from sottovoce.aggregator.estimators import ESTIMATORS
from sottovoce.cli.main import VERBS
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.mechanisms import MECHANISMS, PRESETS
from sottovoce.shared.types import TYPES


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_has_all_its_parts(name: str) -> None:
    """A mechanism is a file in four places, a line in each registry and a folder of vectors."""
    assert name in RANDOMIZERS
    assert name in ESTIMATORS
    assert MECHANISMS[name].name == name
    for package, file in [
        ("sottovoce.shared.mechanisms", f"{name}.py"),
        ("sottovoce.client.randomizers", f"{name}.py"),
        ("sottovoce.client.web", f"device/randomizers/{name}.js"),
        ("sottovoce.client.web", f"survey/mechanisms/{name}.js"),
        ("sottovoce.aggregator.estimators", f"{name}.py"),
    ]:
        assert files(package).joinpath(file).is_file(), f"{package}/{file}"
    for vectors in ("randomize.json", "estimate.json", "bad.json"):
        assert files("sottovoce.shared").joinpath("vectors", name, vectors).is_file()


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanism_docstring_is_its_page_of_maths(name: str) -> None:
    """The module says channel, epsilon, estimator, variance and sources."""
    page = files("sottovoce.shared.mechanisms").joinpath(f"{name}.py").read_text(encoding="utf-8").split('"""')[1]
    for heading in ("Channel", "Epsilon", "Estimator", "Variance", "Sources"):
        assert f"\n{heading}\n" in page


def test_registries_hold_nothing_else() -> None:
    """No registry knows a mechanism that the others do not."""
    assert set(RANDOMIZERS) == set(MECHANISMS) == set(ESTIMATORS)
    assert set(PRESETS.values()) <= set(MECHANISMS)


def test_client_public_names_are_the_agreed_ones() -> None:
    """The client's face is three names."""
    assert sottovoce.client.__all__ == ["FileLedger", "MemoryLedger", "Respondent"]


def test_every_verb_has_a_line_of_help() -> None:
    """The list of verbs is made of these, and imports nothing."""
    assert all(0 < len(line) < 68 for _, line in VERBS.values())


ROOT = Path(__file__).parents[2]
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
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []
