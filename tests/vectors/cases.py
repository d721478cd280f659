"""The questions that the vectors of each mechanism are made of: good ones with answers, and bad ones."""

import json
from pathlib import Path
from typing import Any

from tests.documents import Document, day, number, one_of, question, some_of, vector

FOLDER = Path(__file__).parents[2] / "shared" / "sottovoce" / "shared" / "vectors"

Case = tuple[Document, list[Any]]
"""A question, and the answers that are randomized; none means all options, or the first and the last of many."""


def kept(path: str) -> Any:
    """A file of vectors: what clients must refuse is written there by hand, and here is no second copy of it."""
    return json.loads((FOLDER / path).read_text(encoding="utf-8"))


def bad_questions(name: str) -> list[Document]:
    """The questions with this mechanism that every client refuses."""
    return [vector["question"] for vector in kept(f"{name}/bad.json")]


def bad_changes(path: str, good: str) -> list[list[str]]:
    """Pairs of texts, of which the first stands in this survey: once replaced by the second, it must be refused."""
    pairs: list[list[str]] = kept(path)["bad_changes"]
    assert [old for old, _ in pairs if old not in good] == []
    return pairs


def named(name: str, **parameters: Any) -> Document:
    return {"name": name, **parameters}


def memoized(permanent: Any, instantaneous: Any, waves: Any) -> Document:
    return named("memoized_rr", permanent=permanent, instantaneous=instantaneous, waves=waves)


COIN_FLIP = named("coin_flip")
FINE = named("binary_rr", a="3139872685/4294967296", b="1155094611/4294967296")
TABLE = named("level_table", scores=[-2000000000, 0, 2000000000], weights=[[5, 2, 1], [2, 4, 2], [1, 2, 5]])

GOOD: dict[str, list[Case]] = {
    "binary_rr": [
        (question(named("coin_flip")), []),
        (question(named("warner", truth="2/3")), []),
        (question(named("binary_rr", a="11/12", b="1/6")), []),
        (question(named("binary_rr", a="3139872685/4294967296", b="1155094611/4294967296")), []),
        (question(named("binary_rr", a="300/511", b="1/511")), []),
    ],
    "kary_rr": [
        (one_of(4, named("kary_rr", odds="3")), []),
        (one_of(6, named("kary_rr", odds="3"), "rating"), []),
        (one_of(2, named("kary_rr", odds="2")), []),
        (one_of(9, named("kary_rr", odds="7/2")), []),
        (one_of(60, named("kary_rr", odds="1000003/1000000")), []),
    ],
    "memoized_rr": [
        (question(memoized(COIN_FLIP, COIN_FLIP, 4)), []),
        (question(memoized(named("warner", truth="2/3"), named("binary_rr", a="11/12", b="1/6"), 2)), []),
        (question(memoized(FINE, FINE, 3)), []),
        (question(memoized(COIN_FLIP, named("binary_rr", a="11/20", b="9/20"), 52)), []),
    ],
    "subset_selection": [
        (one_of(2, named("subset_selection", odds="3", size=1)), []),
        (one_of(6, named("subset_selection", odds="3", size=2)), ["c0", "c3", "c5"]),
        (one_of(5, named("subset_selection", odds="1000003/1000000", size=4), "rating"), ["c0", "c4"]),
        (one_of(52, named("subset_selection", odds="3", size=13)), ["c0", "c31", "c32", "c51"]),
    ],
    "hadamard_response": [
        (one_of(3, named("hadamard_response", odds="3")), []),
        (one_of(60, named("hadamard_response", odds="7/2"), "rating"), ["c0", "c7", "c31", "c59"]),
        (one_of(64, named("hadamard_response", odds="1000003/1000000")), ["c0", "c62", "c63"]),
    ],
    "optimal_unary": [
        (one_of(2, named("optimal_unary", odds="3")), []),
        (one_of(5, named("optimal_unary", odds="5/2")), []),
        (one_of(6, named("optimal_unary", epsilon="1")), ["c0", "c5"]),
        ({**one_of(51, named("optimal_unary", odds="3"), "rating"), "absent_category": True}, ["c31", "c50", None]),
        ({**one_of(2, named("optimal_unary", odds="4294967295")), "absent_category": True}, ["c0", None]),
    ],
    "sampled_option": [
        (some_of(2, named("sampled_option", a="3/4", b="1/4")), [[], ["c1"], ["c0", "c1"]]),
        (some_of(5, named("sampled_option", a="11/12", b="1/6"), max_choices=2), [[], ["c0"], ["c4", "c1"]]),
        (some_of(52, named("sampled_option", a="2/3", b="1/3")), [[], ["c31", "c32", "c51"]]),
    ],
    "bitwise_rr": [
        (some_of(2, named("bitwise_rr", a="3/4", b="1/4")), [[], ["c1"], ["c0", "c1"]]),
        (some_of(5, named("bitwise_rr", a="11/12", b="1/6"), max_choices=2), [[], ["c0"], ["c4", "c1"]]),
        (some_of(52, named("bitwise_rr", a="51/100", b="49/100")), [[], ["c31", "c32", "c51"]]),
    ],
    "rounding_rr": [
        (number("0", "1", "0.1", named("rounding_rr", a="3/4", b="1/4")), ["0", "0.3", "0.7", "1", "1.0"]),
        (number("-1000000", "1000000", "0.5", named("rounding_rr", a="2/3", b="1/3")), ["-0.5", "999999.5"]),
        (number("0", "4294967296", "1", named("rounding_rr", a="11/12", b="1/6")), ["0", "1", "4294967296"]),
        (question(named("rounding_rr", a="3/4", b="1/4"), "integer", min="-3", max="4", step="1"), [-3, 0, "4"]),
        (day("1999-12-27", "2000-03-06", named("rounding_rr", a="3/4", b="1/4"), step=7), ["2000-01-03", "2000-02-28"]),
    ],
    "level_table": [
        (number("0", "8", "1", TABLE), ["0", "3", "4", "8"]),
        (number("-0.5", "0.5", "0.1", named("level_table", epsilon="1.4")), ["-0.5", "-0.2", "0", "0.1", "0.5"]),
        (number("0", "4294967296", "1", named("level_table", epsilon="2")), ["0", "4294967295", "4294967296"]),
    ],
    "square_wave": [
        (number("0", "9", "1", named("square_wave", odds="3", bins=10, width=3)), ["0", "4", "9"]),
        (number("18", "99", "1", named("square_wave", odds="7/2", bins=16, width=0)), ["18", "50", "99"]),
        (number("0", "4294967296", "1", named("square_wave", odds="3", bins=7, width=7)), ["0", "1", "4294967296"]),
    ],
    "geometric": [
        (number("0", "1", "1", named("geometric", ratio="1/3")), ["0", "1"]),
        (number("0", "10", "1", named("geometric", ratio="9/10")), ["0", "5", "10"]),
        (number("-5", "5", "0.5", named("geometric", ratio="2147483646/2147483647")), ["-5", "0.5", "5"]),
    ],
    "sampled_coordinate": [
        (vector(2, "0", "1", "1", named("sampled_coordinate", a="3/4", b="1/4")), [{"x0": "0", "x1": 1}]),
        (
            vector(7, "-0.3", "0.3", "0.1", named("sampled_coordinate", a="11/12", b="1/6")),
            [{f"x{i}": text for i, text in enumerate(("-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3"))}],
        ),
    ],
}

_COIN = named("sampled_option", a="3/4", b="1/4")
_HALF = named("rounding_rr", a="3/4", b="1/4")

_COORDINATE = named("sampled_coordinate", a="3/4", b="1/4")

ANSWERS: list[tuple[Document, list[Any], list[Any]]] = [
    (question(named("coin_flip")), ["no", "yes"], ["", "Yes", "maybe", 1, True, None, ["yes"], {"yes": 1}]),
    (one_of(3, named("kary_rr", odds="3")), ["c0", "c2"], ["c3", "C0", 0, ["c0"], None]),
    (one_of(3, named("kary_rr", odds="3"), "rating"), ["c1"], ["1", 1]),
    (
        some_of(4, _COIN, max_choices=2),
        [[], ["c0"], ["c3"], ["c3", "c0"], ["c1", "c2"]],
        [["c0", "c0"], ["c0", "c1", "c2"], ["c4"], "c0", None, {"c0": True}, [0]],
    ),
    (some_of(52, _COIN), [["c51"], ["c31", "c32"], [f"c{i}" for i in range(52)]], []),
    (
        number("0", "1", "0.1", _HALF),
        ["0", 0, "0.3", "0.30", "0.7", "1", "1.000000000", "-0", "0.25", "0.35", "0.249999999", "0.250000001"],
        ["1.1", "-0.1", "", "1e0", "0,3", " 0.3", ".3", "0.", "NaN", "Infinity", "+0.3", "٠", True, None, 2,
         "00.3", "0.3000000000", ["0.3"]],
    ),
    (
        question(_HALF, "integer", min="-5", max="10", step="5"),
        [-5, "-5", 0, "5.0", 10, 1, "4.9", "-2.5", "2.5"],
        [-6, "11", 9007199254740993],
    ),
    (
        vector(3, "-0.2", "0.2", "0.1", _COORDINATE),
        [{"x0": "-0.2", "x1": "0", "x2": "0.2"}, {"x0": "-0.15", "x1": "0.05", "x2": "0.16"},
         {"x2": "-0.1", "x1": 0, "x0": "0.1"}],
        [{"x0": "0", "x1": "0"}, {"x0": "0", "x1": "0", "x2": "0", "x3": "0"}, {"x0": "0", "x1": "0", "x2": "0.3"},
         ["0", "0", "0"], "0", None],
    ),
    ({**question(named("kary_rr", odds="3")), "absent_category": True}, ["no", "yes", None], ["absent", "", 2]),
    ({**one_of(3, named("kary_rr", odds="3")), "when_absent": "c1"}, ["c0", "c1", None], ["", "absent", 1, []]),
    ({**some_of(4, _COIN, max_choices=2), "when_absent": []}, [[], ["c3"], None], ["", {}]),
    ({**number("0", "1", "0.1", _HALF), "when_absent": "0.3"}, ["0.7", None], ["", False, []]),
    (
        {**vector(3, 0, 1, "0.5", _COORDINATE), "when_absent": {"x0": 0, "x1": 1, "x2": "0.50"}},
        [{"x0": "0.5", "x1": "0", "x2": "1"}, None],
        [{}, {"x0": None, "x1": None, "x2": None}, {"x0": "0"}],
    ),
    (
        day("0001-01-01", "9999-12-31", _HALF),
        ["0001-01-01", "0099-03-01", "1900-03-01", "1969-12-31", "1970-01-01", "2000-02-29", "9999-12-31"],
        ["1900-02-29", "2001-02-29", "2000-02-30", "2000-13-01", "2000-00-01", "2000-01-00", "0000-12-31", "",
         "2000-1-1", "20000101", "2000-01-01 ", "2000-01-01T00:00:00Z", "+002000-01-01", "10957", 10957, True, None,
         ["2000-01-01"], "२०००-०१-०१"],
    ),
    (
        {**day("2000-01-01", "2000-01-29", _HALF, step="7"), "when_absent": "2000-01-15"},
        ["2000-01-01", "2000-01-29", None, "2000-01-02", "2000-01-04", "2000-01-05", "2000-01-28"],
        ["1999-12-25", "2000-02-05", "absent", False],
    ),
    (
        number("-1.5", "-0.5", "0.1", _HALF),
        ["-1.5", "-1.45", "-1.35", "-0.95", "-0.55", "-0.500000001"],
        ["-1.500000001", "-0.4", "0"],
    ),
]  # fmt: skip
"""Questions with answers and with what is no answer to them."""
