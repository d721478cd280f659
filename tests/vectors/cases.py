"""The questions that the vectors of each mechanism are made of: good ones with answers, and bad ones."""

from typing import Any

from tests.documents import Document, day, names, number, one_of, question, some_of, vector

Case = tuple[Document, list[Any]]
"""A question, and the answers that are randomized; none means all options, or the first and the last of many."""


def named(name: str, **parameters: Any) -> Document:
    """A mechanism's document."""
    return {"name": name, **parameters}


def memoized(permanent: Any, instantaneous: Any, waves: Any) -> Document:
    """A memoized mechanism's document."""
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

BAD: dict[str, list[Document]] = {
    "binary_rr": [
        question(named("binary_rr", a="6/8", b="1/4")),
        question(named("binary_rr", a="3/4", b="0")),
        question(named("binary_rr", a="1", b="1/4")),
        question(named("binary_rr", a="1/4", b="3/4")),
        question(named("binary_rr", a="1/2", b="1/2")),
        question(named("binary_rr", a="0.75", b="0.25")),
        question(named("binary_rr", a="3/4")),
        question(named("binary_rr", a="3/4", b="1/4", c="1")),
        question(named("binary_rr", a=" 3/4", b="1/4")),
        question(named("binary_rr", a="03/4", b="1/4")),
        question(named("binary_rr", a="4294967295/4294967297", b="1/4")),
        question(named("binary_rr", a="4294967290/4294967291", b="1/4294967279")),
        question(named("binary_rr", a=True, b="1/4")),
        question(named("binary_rr", a="NaN", b="1/4")),
        question(named("binary_rr", a="5/4", b="1/4")),
        question(named("binary_rr", a="3/4", b="-1/4")),
        one_of(3, named("binary_rr", a="3/4", b="1/4")),
    ],
    "kary_rr": [
        one_of(4, named("kary_rr", odds="1")),
        one_of(4, named("kary_rr", odds="1/2")),
        one_of(4, named("kary_rr", odds="6/2")),
        one_of(4, named("kary_rr", odds="3/1")),
        one_of(4, named("kary_rr", odds=3)),
        one_of(4, named("kary_rr", odds="0")),
        one_of(4, named("kary_rr")),
        one_of(4, named("kary_rr", odds="3", keep="1/2")),
        one_of(4, named("kary_rr", odds="4294967296")),
        one_of(1, named("kary_rr", odds="3")),
        question(named("kary_rr", odds="3")),
        some_of(4, named("kary_rr", odds="3")),
        one_of(4, named("no_such_mechanism")),
    ],
    "memoized_rr": [
        question(memoized(COIN_FLIP, COIN_FLIP, 1)),
        question(memoized(COIN_FLIP, COIN_FLIP, 53)),
        question(memoized(COIN_FLIP, COIN_FLIP, "4")),
        question(memoized(COIN_FLIP, COIN_FLIP, True)),
        question(memoized(COIN_FLIP, {}, 4)),
        question(memoized(COIN_FLIP, "coin_flip", 4)),
        question(memoized(COIN_FLIP, None, 4)),
        question(memoized(COIN_FLIP, named("binary_rr", a="1", b="1/4"), 4)),
        question(memoized(named("kary_rr", odds="3"), COIN_FLIP, 4)),
        question(memoized(memoized(COIN_FLIP, COIN_FLIP, 2), COIN_FLIP, 2)),
        question(named("memoized_rr", permanent=COIN_FLIP, waves=4)),
        {**question(memoized(COIN_FLIP, COIN_FLIP, 4)), "absent_category": True},
        question(named("memoized_rr", epsilon="1")),
        one_of(2, memoized(COIN_FLIP, COIN_FLIP, 4)),
    ],
    "subset_selection": [
        one_of(6, named("subset_selection", odds="3", size=0)),
        one_of(6, named("subset_selection", odds="3", size=6)),
        one_of(6, named("subset_selection", odds="3", size="2")),
        one_of(6, named("subset_selection", odds="3", size=True)),
        one_of(6, named("subset_selection", odds="1", size=2)),
        one_of(6, named("subset_selection", odds="2147483647", size=3)),
        one_of(6, named("subset_selection", size=2)),
        one_of(53, named("subset_selection", odds="3", size=2)),
        some_of(6, named("subset_selection", odds="3", size=2)),
    ],
    "hadamard_response": [
        one_of(3, named("hadamard_response", odds="1")),
        one_of(3, named("hadamard_response", odds="6/2")),
        one_of(3, named("hadamard_response", odds=3)),
        one_of(3, named("hadamard_response")),
        one_of(3, named("hadamard_response", odds="3", size=2)),
        one_of(3, named("hadamard_response", odds="4294967296")),
        question(named("hadamard_response", odds="3")),
        some_of(4, named("hadamard_response", odds="3")),
    ],
    "optimal_unary": [
        one_of(4, named("optimal_unary", odds="1")),
        one_of(4, named("optimal_unary", odds="1/2")),
        one_of(4, named("optimal_unary", odds="6/2")),
        one_of(4, named("optimal_unary", odds=3)),
        one_of(4, named("optimal_unary")),
        one_of(4, named("optimal_unary", odds="3", size=2)),
        one_of(4, named("optimal_unary", odds="2147483648")),
        one_of(4, named("optimal_unary", odds="4294967296")),
        one_of(1, named("optimal_unary", odds="3")),
        one_of(53, named("optimal_unary", odds="3")),
        {**one_of(52, named("optimal_unary", odds="3")), "absent_category": True},
        question(named("optimal_unary", odds="3")),
        some_of(4, named("optimal_unary", odds="3")),
    ],
    "sampled_option": [
        some_of(4, named("sampled_option", a="1/4", b="3/4")),
        some_of(4, named("sampled_option", a="3/4")),
        some_of(4, named("sampled_option", truth="3/4")),
        some_of(53, named("sampled_option", a="3/4", b="1/4")),
        some_of(4, named("sampled_option", a="3/4", b="1/4"), max_choices=0),
        some_of(4, named("sampled_option", a="3/4", b="1/4"), max_choices=5),
        some_of(4, named("sampled_option", a="3/4", b="1/4"), max_choices="2"),
        one_of(4, named("sampled_option", a="3/4", b="1/4")),
    ],
    "bitwise_rr": [
        some_of(4, named("bitwise_rr", a="3/4", b="3/4")),
        some_of(4, named("bitwise_rr", a="3/4", b="1/4", max_choices=2)),
        some_of(53, named("bitwise_rr", a="3/4", b="1/4")),
        one_of(4, named("bitwise_rr", a="3/4", b="1/4")),
    ],
    "rounding_rr": [
        number("0", "1", "0.3", named("rounding_rr", a="3/4", b="1/4")),
        number("1", "1", "0.1", named("rounding_rr", a="3/4", b="1/4")),
        number("1", "0", "0.1", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "1", "0", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "1", "-0.1", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "1", "1e-1", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "NaN", "1", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "Infinity", "1", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "4294967297", "1", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "1000000000000000", "1000000", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "1", "0.0000000001", named("rounding_rr", a="3/4", b="1/4")),
        number(".5", "1", "0.5", named("rounding_rr", a="3/4", b="1/4")),
        number("0", True, "1", named("rounding_rr", a="3/4", b="1/4")),
        number("0", "1", "0.1", named("rounding_rr", a="3/4")),
        question(named("rounding_rr", a="3/4", b="1/4"), "decimal", min="0", max="1"),
        question(named("rounding_rr", a="3/4", b="1/4"), "integer", min="0", max="1", step="0.5"),
        question(named("rounding_rr", a="3/4", b="1/4"), min="0", max="1", step="1"),
        day("2000-01-01", "2000-01-10", named("rounding_rr", a="3/4", b="1/4"), step=2),
        day("2000-01-01", "2000-01-09", named("rounding_rr", a="3/4", b="1/4"), step="0.5"),
        day("2000-01-01", "2000-01-09", named("rounding_rr", a="3/4", b="1/4"), step=0),
        day("2000-01-01", "2000-01-01", named("rounding_rr", a="3/4", b="1/4")),
        day("2000-01-02", "2000-01-01", named("rounding_rr", a="3/4", b="1/4")),
        day("1999-02-29", "2000-01-01", named("rounding_rr", a="3/4", b="1/4")),
        day("0000-01-01", "2000-01-01", named("rounding_rr", a="3/4", b="1/4")),
        day("2000-1-1", "2000-01-09", named("rounding_rr", a="3/4", b="1/4")),
        day("2000-01-01T00:00:00Z", "2000-01-09", named("rounding_rr", a="3/4", b="1/4")),
        day("10957", "2000-01-09", named("rounding_rr", a="3/4", b="1/4")),
        {**day("2000-01-01", "2000-01-09", named("rounding_rr", a="3/4", b="1/4")), "absent_category": True},
        day("2000-01-01", "2000-01-09", named("kary_rr", odds="3")),
    ],
    "level_table": [
        number("0", "8", "1", {**TABLE, "weights": [[5, 2, 1], [2, 4, 2], [1, 2, 6]]}),
        number("0", "8", "1", {**TABLE, "weights": [[6, 2, 0], [2, 4, 2], [0, 2, 6]]}),
        number("0", "8", "1", {**TABLE, "weights": [[7, 2, -1], [2, 4, 2], [-1, 2, 7]]}),
        number("0", "8", "1", {**TABLE, "weights": [[5, 3], [3, 5]]}),
        number("0", "8", "1", {**TABLE, "weights": [[5, 2, 1]]}),
        number("0", "8", "1", {**TABLE, "weights": [[5, 2, 1], [2, 4, 2], [1, 2, True]]}),
        number("0", "8", "1", {**TABLE, "weights": "521"}),
        number("0", "8", "1", {**TABLE, "scores": [-1000000000, 0, 1000000000]}),
        number("0", "8", "1", {**TABLE, "scores": [-2000000000, 100, 2000000000]}),
        number("0", "8", "1", {**TABLE, "scores": ["-2", "0", "2"]}),
        number("0", "8", "1", {**TABLE, "weights": [[x * 2**30 for x in row] for row in TABLE["weights"]]}),
        number("0", "8", "1", named("level_table", scores=[-2, 2])),
        number("0", "8", "1", named("level_table", epsilon="1.3")),
    ],
    "square_wave": [
        number("0", "9", "1", named("square_wave", odds="3", bins=11, width=3)),
        number("0", "9", "1", named("square_wave", odds="3", bins=1, width=0)),
        number("0", "9", "1", named("square_wave", odds="3", bins=10, width=11)),
        number("0", "9", "1", named("square_wave", odds="3", bins=10, width=-1)),
        number("0", "9", "1", named("square_wave", odds="1", bins=10, width=3)),
        number("0", "9", "1", named("square_wave", odds="2147483648", bins=10, width=3)),
        number("0", "9999", "1", named("square_wave", odds="3", bins=1025, width=3)),
    ],
    "geometric": [
        number("0", "1001", "1", named("geometric", ratio="9/10")),
        number("0", "10", "1", named("geometric", ratio="1")),
        number("0", "10", "1", named("geometric", ratio="0")),
        number("0", "10", "1", named("geometric", ratio="10/9")),
        number("0", "10", "1", named("geometric", ratio="8/10")),
        number("0", "10", "1", named("geometric", ratio="0.9")),
        number("0", "10", "1", named("geometric", ratio="4294967295/4294967296")),
    ],
    "sampled_coordinate": [
        vector(1, "0", "1", "1", named("sampled_coordinate", a="3/4", b="1/4")),
        vector(2, "0", "1", "0.3", named("sampled_coordinate", a="3/4", b="1/4")),
        {**vector(2, "0", "1", "1", named("sampled_coordinate", a="3/4", b="1/4")), "choices": names(2)},
        number("0", "1", "1", named("sampled_coordinate", a="3/4", b="1/4")),
        {**vector(2, "0", "1", "1", {}), "mechanism": named("sampled_coordinate", a="3/4", b="3/4")},
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
