from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation.edits import ROOT, Edit, load_edits
from tests.mutation.run import MUTANTS, copy_of, failures, planted
from tests.vectors.test_javascript import APART

LIST = Path(__file__).with_name("faults.yaml")
FAULTS = list(load_edits(LIST))
JAVASCRIPT = "tests/vectors/test_javascript.py::test_javascript_does_as_its_tests_say[sources-{}]"


@pytest.mark.parametrize("path", [LIST, MUTANTS], ids=["faults", "mutants"])
def test_every_edit_fits_the_source(path: Path) -> None:
    """Each change fits, Python stays Python, and no file stands twice: the edits of its first place would be lost."""
    edits = list(load_edits(path))
    for edit in edits:
        text = (ROOT / edit.file).read_text(encoding="utf-8")
        changed = edit.apply(text)
        assert changed != text
        if edit.file.endswith(".py"):
            compile(changed, edit.file, "exec")

    assert len({edit.name for edit in edits}) == len(edits) == path.read_text(encoding="utf-8").count("name: ")


def test_every_fault_has_its_tests() -> None:
    for fault in FAULTS:
        assert (ROOT / fault.notes["killed_by"]).is_file(), fault.name


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with copy_of(ROOT) as copied:
        yield copied


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
def test_tests_pass_without_a_fault(folder: Path) -> None:
    """Tests that fail anyway would notice nothing."""
    assert failures(folder, sorted({killer(fault) for fault in FAULTS})) == []


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_noticed(folder: Path, fault: Edit) -> None:
    with planted(folder, fault):
        found = failures(folder, [killer(fault)], "-x")

    assert found
    assert found[0].startswith(killer(fault))


def killer(fault: Edit) -> str:
    """Return the tests that must notice a fault, as an argument for pytest."""
    path = Path(fault.notes["killed_by"])
    return JAVASCRIPT.format(path.name if ROOT / path in APART else "others") if path.suffix == ".mjs" else str(path)
