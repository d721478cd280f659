"""After binding, what a verb does follows from no value: the same lines run, over arrays of the same shapes."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import numpy as np
import pytest
from sottovoce.aggregator.curator.clusters import cluster
from sottovoce.aggregator.curator.clusters.cluster import LloydOptions, cluster_question
from sottovoce.aggregator.curator.data import data_set
from sottovoce.aggregator.curator.data.data_set import DataSet, open_data_set
from sottovoce.aggregator.curator.data.read_records import read_records
from sottovoce.aggregator.curator.draws import system_draws
from sottovoce.aggregator.curator.questions import (
    CuratorQuestion,
    count_question,
    histogram_question,
    number_question,
    quantile_question,
    top_question,
    vector_question,
    weighted_question,
)
from sottovoce.aggregator.curator.release import Neighbours
from sottovoce.shared.errors import StorageError
from sottovoce.shared.exact_noise import ExactNoise

from tests.vectors.tape import Tape

YAML = """\
format: sottovoce-data/1
record: one student, once
columns:
  year: {categories: [first, second, third]}
  habits: {marks: [copied, phone]}
  age: {minimum: 16, maximum: 26, step: 1, centre: 20}
  id: {unused: true}
"""
ROWS = 120
CONTENTS: dict[str, Callable[[int], str]] = {
    "all equal": lambda _: "1,first,copied,16",
    "all different": lambda n: f"{n},{('first', 'second', 'third')[n % 3]},copied;phone,{16 + n / 100}",
    "none that fits": lambda n: (",,,", f"-,no{n},{'no;' * n}no,no{n}e{n}", f"0,{n}, phone;x,{10**n}")[n % 3],
}
WORDS = {
    "count": lambda declared: count_question(declared, ["year=first & age>=20"], None),
    "counts": lambda declared: count_question(declared, ["year=first", "habits=copied", "age>=20"], 2),
    "weighted": lambda declared: weighted_question(declared, "year", ["first:1/2", "other:1"]),
    "histogram": lambda declared: histogram_question(declared, ["year", "age"]),
    "sum": lambda declared: number_question("sum", declared, "age"),
    "mean": lambda declared: number_question("mean", declared, "age"),
    "vector": lambda declared: vector_question(declared, ["age", "habits"], 2, None, Fraction(0)),
    "quantiles": lambda declared: quantile_question(declared, "age", ["1/4", "1/2"]),
    "top": lambda declared: top_question(declared, "habits"),
    "top cell": lambda declared: top_question(declared, "year"),
    # Of two clusters one may seem empty: whether it is drawn anew follows from a noisy count, which is no value.
    "cluster": lambda declared: cluster_question(declared, ["age"], 1, LloydOptions(2)),
    "grid": lambda declared: cluster_question(declared, ["age"], 1),
}
ROOM = str(Path(data_set.__file__).parents[1])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One for the data, with heads beside it; noise is always the same there."""
    (tmp_path / "data").mkdir()
    (tmp_path / "heads").mkdir()
    # How often a grid's centres move, and among how many cells, follows from noisy counts, which are no values.
    monkeypatch.setattr(cluster, "_best_centres", lambda *_: {"centres": [[0]], "noisy_sizes": [0]})
    monkeypatch.setattr(data_set, "system_draws", lambda: ExactNoise(Tape("noise")))
    return tmp_path / "data"


def bound(folder: Path, name: str, ending: str = "csv") -> DataSet:
    file = folder / f"{name.replace(' ', '_')}.{ending}"
    text = "id,year,habits,age\n" + "".join(f"{CONTENTS[name](n)}\n" for n in range(ROWS))
    file.with_suffix(".csv").write_text(text)
    if ending == "parquet":
        duckdb.read_csv(str(file.with_suffix(".csv")), all_varchar=True).write_parquet(str(file))
    file.with_suffix(".yaml").write_text(YAML)
    opened(file).bind(Fraction(10**6), None, Neighbours.REPLACE)
    return opened(file)


def opened(file: Path) -> DataSet:
    return open_data_set(file, None, str(file.parents[1] / "heads"))


@contextmanager
def watched() -> Iterator[list[Any]]:
    """What the product's own code does: every line that runs, with the shape and type of every array at hand."""
    trail: list[Any] = []

    def line(frame: FrameType, _: str, __: object) -> Any:
        arrays = [(name, each.shape, each.dtype.str) for name, each in frame.f_locals.items() if hasattr(each, "dtype")]
        trail.append((Path(frame.f_code.co_filename).name, frame.f_lineno, arrays))
        return line

    def call(frame: FrameType, event: str, argument: object) -> Any:
        return line(frame, event, argument) if frame.f_code.co_filename.startswith(ROOM) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield trail
    finally:
        sys.settrace(before)


def trail_of(data: DataSet, make: Callable[[Any], CuratorQuestion]) -> list[Any]:
    """Of one verb, from opening the file to the recorded answer."""
    assert data.placed is not None
    with watched() as trail:
        fresh = opened(data.placed.file)
        fresh.ask(make(fresh.declaration), Fraction(100))
    return trail


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_verb_does_the_same_whatever_stands_in_the_cells(folder: Path, ending: str) -> None:
    """All equal, all different, and none that fits (empty, no number, far out): the same for each verb."""
    first, *others = [bound(folder, name, ending) for name in CONTENTS]
    for make in list(WORDS.values()) if ending == "csv" else [WORDS["histogram"]]:
        expected = trail_of(first, make)
        assert len(expected) > 200
        assert any(array[1] == (ROWS,) for _, _, arrays in expected for array in arrays)
        for other in others:
            assert trail_of(other, make) == expected


def test_reading_texts_would_be_noticed(folder: Path) -> None:
    """Binding looks at texts, and the watch sees it: it is not blind."""
    trails = []
    for name in ("all equal", "all different"):
        data = bound(folder, name)
        assert data.placed is not None
        with watched() as trail:
            read_records(data.placed.file, data.declaration)
        trails.append(trail)
    assert len(trails[1]) > len(trails[0]) + 2 * ROWS


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_placed_records_are_those_of_the_file(folder: Path, ending: str) -> None:
    """Each column by itself and all together, in bytes whose number follows from the declaration."""
    sizes = set()
    for name in CONTENTS:
        data = bound(folder, name, ending)
        whole = read_records(data.placed.file, data.declaration)
        found = data.placed.read(["year", "habits", "age"])
        rows = [
            sorted(zip(*(each.columns[key].tolist() for key in found.columns), strict=True)) for each in (whole, found)
        ]
        assert rows[0] == rows[1]
        assert found.count == ROWS
        assert np.array_equal(data.placed.read(["age"]).columns["age"], found.columns["age"])
        head, _, body = data.placed.path.read_bytes().partition(b"\n")
        assert json.loads(head)["format"] == "sottovoce-records/1"
        sizes.add(len(body))
    assert sizes == {3 * ROWS}


def test_data_are_not_read_again_unless_they_were_touched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their SHA-256 is known as long as size and times are the same; otherwise it is made anew."""
    data = bound(folder, "all different")
    file, made = data.placed.file, []
    real = data_set.digest_of
    monkeypatch.setattr(data_set, "digest_of", lambda path: made.append(path) or real(path))
    question = WORDS["mean"](data.declaration)
    opened(file).ask(question, Fraction(1))
    assert made == []
    file.touch()
    assert opened(file).ask(question, Fraction(1)).again
    assert made == [file]
    file.write_text(file.read_text() + "9,first,,18\n")
    with pytest.raises(StorageError, match="of another file, or the data were changed"):
        opened(file).ask(question, Fraction(2))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda content: content[:-1], "is damaged"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "is damaged"),
        (lambda _: b"", "is damaged"),
        (lambda _: b"[]\n", "is damaged"),
        (lambda content: content.replace(b'"count":120', b'"count":' + b"9" * 40), "is damaged"),
        (None, "is missing"),
    ],
)
def test_wrong_placed_records_answer_nothing_until_bound_again(folder: Path, change: Any, told: str) -> None:
    """Nothing is charged; binding again with the same terms places them anew, and the budget is what it was."""
    data = bound(folder, "all equal")
    first = data.ask(WORDS["mean"](data.declaration), Fraction(1))
    path, file = data.placed.path, data.placed.file
    path.unlink() if change is None else path.write_bytes(change(path.read_bytes()))
    with pytest.raises(StorageError, match=told) as caught:
        opened(file).ask(WORDS["sum"](data.declaration), Fraction(1))
    assert "bind the data again" in str(caught.value)

    with pytest.raises(StorageError, match="fixed for good"):
        opened(file).bind(Fraction(3), None, Neighbours.REPLACE)
    opened(file).bind(Fraction(10**6), None, Neighbours.REPLACE)
    assert opened(file).budget.read().entries == [first.entry]
    assert not opened(file).ask(WORDS["sum"](data.declaration), Fraction(1)).again


def test_placed_records_of_other_data_answer_nothing(folder: Path) -> None:
    ours, theirs = (bound(folder, name).placed for name in ("all equal", "all different"))
    ours.path.write_bytes(theirs.path.read_bytes())
    data = opened(ours.file)
    with pytest.raises(StorageError, match="of other data or declarations"):
        data.ask(WORDS["mean"](data.declaration), Fraction(1))
    assert data.budget.read().entries == []


def test_declaration_that_is_mended_places_anew(folder: Path) -> None:
    """As long as nothing was asked; whoever may read the data may read what lies beside them, and nobody else."""
    data = bound(folder, "all different")
    file = data.placed.file
    file.chmod(0o640)
    file.with_suffix(".yaml").write_text(YAML.replace("second, third", "second"))
    with pytest.raises(StorageError, match="the declaration is not the one"):
        opened(file).ask(WORDS["top cell"](data.declaration), Fraction(1))
    opened(file).bind(Fraction(10**6), None, Neighbours.REPLACE)
    mended = opened(file)
    assert mended.placed.read(["year"]).columns["year"].max() == 2
    assert mended.placed.path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in folder.iterdir() if each.name.endswith(".part")] == []


def test_placed_records_that_cannot_be_written_are_told(folder: Path) -> None:
    """Something else is called so; the budget is open, and the same verb once more completes it."""
    data = bound(folder, "all equal")
    data.placed.path.unlink()
    data.placed.path.mkdir()
    with pytest.raises(StorageError, match="cannot be written beside the data"):
        data.bind(Fraction(10**6), None, Neighbours.REPLACE)
    data.placed.path.rmdir()
    data.bind(Fraction(10**6), None, Neighbours.REPLACE)
    assert data.placed.read(["year"]).count == ROWS
    assert system_draws().below(1) == 0
