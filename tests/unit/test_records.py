"""Records of single questions: written, read, as columns of a file, and analyzed from that file alone."""

import csv
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sottovoce import records
from sottovoce.aggregator import open_data
from sottovoce.client.draws import Draws
from sottovoce.shared.channel_text import channel_question, dump_channel, split_channel
from sottovoce.shared.errors import AnswerError, SpecError
from sottovoce.shared.single_question import parse_asked, parse_question

from tests.documents import day, number, one_of, question, some_of, vector
from tests.unit.shared.test_schema import validator
from tests.vectors.cases import GOOD, named
from tests.vectors.records import BAD
from tests.vectors.tape import Tape

PEOPLE = 400
COIN = question(named("coin_flip"))
BIT = {"a": "4/5", "b": "1/5"}

TOGETHER = {
    "block": "both",
    "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
    "items": [{"type": "boolean", "name": name, "label": {"en": f"Is {name}?"}} for name in ("a", "b")],
}

ONE_OF_EACH: dict[str, tuple[dict[str, Any], list[Any], dict[str, float]]] = {
    "binary_rr": (COIN, ["yes", "no", "no"], {"yes": 1 / 3}),
    "kary_rr": (one_of(3, named("kary_rr", odds="5")), ["c0", "c1", "c1"], {"c0": 1 / 3, "c2": 0}),
    "subset_selection": (one_of(5, named("subset_selection", odds="9", size=2)), ["c4", "c0", "c4"], {"c4": 2 / 3}),
    "hadamard_response": (one_of(3, named("hadamard_response", odds="9")), ["c2", "c0", "c0"], {"c2": 1 / 3}),
    "optimal_unary": (one_of(4, named("optimal_unary", odds="9")), ["c3", "c1", "c1"], {"c3": 1 / 3}),
    "sampled_option": (some_of(3, named("sampled_option", **BIT)), [["c0", "c2"], ["c0"], []], {"c0": 2 / 3}),
    "bitwise_rr": (some_of(2, named("bitwise_rr", **BIT)), [["c0", "c1"], ["c0"], []], {"c0": 2 / 3, "c1": 1 / 3}),
    "rounding_rr": (number("0", "10", "1", named("rounding_rr", **BIT)), ["3", "6", "9"], {"mean": 6}),
    "level_table": (number("0", "10", "1", named("level_table", epsilon="2")), ["3", "6", "9"], {"mean": 6}),
    "square_wave": (number("0", "9", "1", named("square_wave", odds="9", bins=5, width=1)), ["2", "5"], {"mean": 3.5}),
    "geometric": (number("-5", "5", "1", named("geometric", ratio="4/5")), ["-1", "2", "5"], {"mean": 2}),
    "sampled_coordinate": (
        vector(2, "0", "1", "0.5", named("sampled_coordinate", **BIT)),
        [{"x0": "0", "x1": "1"}, {"x0": "0.5", "x1": "1"}],
        {"x0": 0.25, "x1": 1},
    ),
}
"""A question for each mechanism that can stand alone, invented answers, and the truth about some options."""


def written(folder: Path, document: dict[str, Any], answers: list[Any]) -> Path:
    """Write the three columns of many invented people, beside an id."""
    draws = Draws(Tape(f"records {document}"))
    rows = [records.columns(records.simulate(document, answers[n % len(answers)], draws)) for n in range(PEOPLE)]
    path = folder / "host.csv"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, ["participant", *rows[0]])
        table.writeheader()
        table.writerows({"participant": number, **row} for number, row in zip(count(), rows, strict=False))
    return path


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_columns_alone_give_the_truth(tmp_path: Path, name: str) -> None:
    """Every mechanism: the host's own file, without a survey file, within four standard errors."""
    document, answers, truth = ONE_OF_EACH[name]
    rows = [row for row in open_data(written(tmp_path, document, answers)).shares().rows if row["question"] == "q"]

    for option, share in truth.items():
        row = next(row for row in rows if option in {row["option"], row["kind"]})
        assert abs(row["raw"] - share) < 4 * row["std_error"], option


def test_columns_of_a_block_give_shares_and_its_table(tmp_path: Path) -> None:
    truths = [{"a": a, "b": b} for a, b in (("yes", "yes"), ("yes", "yes"), ("no", "no"), ("no", "yes"))]
    record = records.simulate(TOGETHER, truths[0])
    assert records.read(records.write(record)) == record
    assert list(validator("record").iter_errors(json.loads(records.write(record)))) == []
    assert record.channel == "joint_rr odds=9 radius=0 k=2,2 with=a,b"

    data = open_data(written(tmp_path, TOGETHER, truths))
    rows = {(row["question"], row["option"]): row for row in data.shares().rows}
    for key, share in ((("a", "yes"), 1 / 2), (("b", "yes"), 3 / 4)):
        assert abs(rows[key]["raw"] - share) < 4 * rows[key]["std_error"], key


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"ask": 1}, "/ask"),
        ({"arm": ["x"]}, "/arm"),
        ({"block": "a"}, "/items/0/name"),
        ({"mechanism": {"name": "joint_rr", "odds": "21", "radius": 0}}, "/mechanism"),
        ({"items": [{"type": "boolean", "name": "a", "label": {"en": "A"}, "visible_if": {"b": ["yes"]}}]},
         "/items/0/visible_if"),
        ({"items": [{"type": "matrix", "name": "a", "label": {"en": "A"}}]}, "/items/0/type"),
    ],
)  # fmt: skip
def test_block_that_needs_a_survey_is_refused(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_asked({**TOGETHER, **changes})
    assert pointer in {problem.pointer for problem in caught.value.problems}


@pytest.mark.parametrize("answer", ["yes", {"a": "yes"}, {"a": "yes", "b": "yes", "c": "yes"}])
def test_block_needs_an_answer_to_each_question(answer: object) -> None:
    """And to no other."""
    with pytest.raises(AnswerError):
        records.simulate(TOGETHER, answer)


@pytest.mark.parametrize("changes", [{"report": 4}, {"value": "yes"}, {"channel": "joint_rr odds=9"}])
def test_bad_records_of_a_block_are_refused(changes: dict[str, Any]) -> None:
    document = json.loads(records.write(records.simulate(TOGETHER, {"a": "yes", "b": "no"})))
    with pytest.raises(SpecError):
        records.read(json.dumps({**document, **changes}))


@pytest.mark.parametrize("name", [name for name in GOOD if name != "memoized_rr"])
def test_channel_is_read_back(name: str) -> None:
    for document, _ in [*GOOD[name], (day("1999-12-27", "2000-03-06", named("rounding_rr", **BIT), step=7), [])]:
        try:
            asked = parse_question(document).question
        except SpecError:
            continue
        words = split_channel(dump_channel(asked))
        found = channel_question(words, words.pop_levels())
        assert (found.mechanism, found.domain.options, found.domain.grid) == (
            asked.mechanism,
            asked.domain.options,
            asked.domain.grid,
        )
        assert found.domain.max_choices == asked.domain.max_choices


def test_record_is_read_back_and_fits_its_schema() -> None:
    record = records.simulate(COIN, "yes")
    assert records.read(records.write(record)) == record
    assert list(validator("record").iter_errors(json.loads(records.write(record)))) == []
    assert record.digest == parse_question({**COIN, "mechanism": named("binary_rr", a="3/4", b="1/4")}).digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "sottovoce-record/2"}, "of format sottovoce-record/1"),
        ({"more": 1}, "of format sottovoce-record/1"),
        ({"digest": "A" * 64}, "digest"),
        ({"once": 1}, "once must be device, visit, no, true or false"),
        ({"report": "1"}, "report a whole number"),
        ({"report": 2}, "do not fit"),
        ({"value": "maybe"}, "do not fit"),
        ({"channel": "binary_rr a=3/4"}, "channel"),
        ({"channel": "no_such a=3/4"}, "channel"),
        ({"channel": "binary_rr a=2/3 b=1/3"}, "mechanism is not the one"),
        ({"epsilon": 1.1}, "epsilon"),
    ],
)
def test_bad_records_are_refused(changes: dict[str, Any], message: str) -> None:
    document = json.loads(records.write(records.simulate(COIN, "yes")))
    with pytest.raises(SpecError, match=message) as caught:
        records.read(json.dumps({**document, **changes}))
    assert "maybe" not in str(caught.value)


def test_no_json_is_refused() -> None:
    for text in ("", "[]", "null", "{", b"\xff"):
        with pytest.raises(SpecError, match="record"):
            records.read(text)


@pytest.mark.parametrize(
    ("document", "pointer"),
    [*zip(BAD, ("/public", "/mechanism", "/mechanism", "/type", "/type", "/visible_if/other"), strict=True)],
)
def test_what_cannot_stand_alone_is_refused(document: dict[str, Any], pointer: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_question(document)
    assert pointer in {problem.pointer for problem in caught.value.problems}


def test_impossible_answers_are_refused_without_being_repeated() -> None:
    """As by a survey's own question."""
    with pytest.raises(AnswerError) as caught:
        records.simulate(COIN, "perhaps")
    assert "perhaps" not in str(caught.value)
