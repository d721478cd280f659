"""What is written reads back, and means the same: over surveys, reports and numbers that nobody thought of."""

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared import canonical
from sottovoce.shared.errors import AnswerError, ReportRejected, SpecError
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.rational import dump_decimal, parse_decimal
from sottovoce.shared.report import dump_report, parse_report, report_length

from tests.documents import names, parsed, question, survey
from tests.vectors.generate import Tape

EPSILONS = st.integers(1, 1000).map(lambda hundredths: f"{hundredths // 100}.{hundredths % 100:02}")
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)
LEAVES = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1)
TREES = st.recursive(
    LEAVES | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abz_", max_size=3), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def grids(draw):
    """(min, max, step) as decimal strings, one to some steps apart."""
    step = Fraction(draw(st.integers(1, 5000)), 10 ** draw(st.integers(0, 6)))
    low = step * draw(st.integers(-1000, 1000))
    steps = draw(st.integers(1, 1000))
    return dump_decimal(low), dump_decimal(low + step * steps), dump_decimal(step)


@st.composite
def documents(draw, kind=None):
    """A question of some type, with an epsilon, and an answer to it."""
    kind = kind or draw(st.sampled_from(["boolean", "select_one", "rating", "select_multiple", "decimal", "vector"]))
    asked = question({"epsilon": draw(EPSILONS)}, kind, label={"en": draw(TEXTS)})
    if kind == "boolean":
        return asked, draw(st.sampled_from(["no", "yes"]))
    options = names(draw(st.integers(2, 20)), "x" if kind == "vector" else "c")
    chosen = [option["name"] for option in options]
    if kind in {"decimal", "vector"}:
        low, high, step = draw(grids())
        values = [parse_decimal(low) + parse_decimal(step) * i for i in range(3)]
        inside = [dump_decimal(value) for value in values if value <= parse_decimal(high)]
        asked |= {"min": low, "max": high, "step": step}
        if kind == "decimal":
            return asked, draw(st.sampled_from(inside))
        return asked | {"coordinates": options}, {name: draw(st.sampled_from(inside)) for name in chosen}
    asked["choices"] = options
    if kind != "select_multiple":
        return asked, draw(st.sampled_from(chosen))
    most = draw(st.integers(1, len(options)))
    return asked | {"max_choices": most}, draw(st.lists(st.sampled_from(chosen), max_size=most, unique=True))


@given(TREES)
def test_canonical_form_reads_back(tree):
    body = canonical.dump({"a": tree})

    assert canonical.load(body) == {"a": tree}
    assert canonical.dump(canonical.load(body)) == body


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_load_fails_only_with_value_errors(body):
    """Whatever arrives, there is one kind of error, and a report or survey with its own."""
    for read, error in ((canonical.load, ValueError), (load_survey, SpecError), (parse_report, ReportRejected)):
        try:
            read(body)
        except error:
            continue


@settings(deadline=None, max_examples=60)
@given(st.lists(documents(), min_size=1, max_size=4), st.integers(0, 9999))
def test_survey_and_report_survive_the_whole_way(cases, wave):
    asked = [{**document, "name": f"q{index}"} for index, (document, _) in enumerate(cases)]
    answers = {f"q{index}": answer for index, (_, answer) in enumerate(cases)}

    first = parse_survey(survey(*asked))
    again = load_survey(first.canonical)
    report = randomize(again, encode(again, answers), Draws(Tape(first.digest)), wave)
    body = dump_report(report, again)

    assert again == first
    assert parse_survey(first.document).canonical == first.canonical
    assert parse_report(body) == report
    assert len(body) == report_length(first, wave)
    assert all(q.admits(value) for q, value in zip(first.questions, report.values, strict=True))
    assert first.epsilon <= sum(float(document["mechanism"]["epsilon"]) for document, _ in cases)


@given(st.fractions(-(10**9), 10**9).map(lambda x: Fraction(int(x * 10**9), 10**9)))
def test_decimals_read_back(number):
    """One spelling for each number of nine decimals."""
    assert parse_decimal(dump_decimal(number)) == number


@given(grids(), st.integers(0, 1000), st.integers(-9, 9))
def test_grid_index_is_exact(grid, index, offset):
    """Every grid value has its step; a hair beside it counts as the nearest one, and none beyond the ends."""
    low, high, step = grid
    asked = parsed(question({"name": "rounding_rr", "a": "3/4", "b": "1/4"}, "decimal", min=low, max=high, step=step))
    index %= asked.domain.size
    value = parse_decimal(low) + parse_decimal(step) * index

    assert asked.encode(dump_decimal(value)) == index
    beside = value + Fraction(offset, 10**9)
    if parse_decimal(low) <= beside <= parse_decimal(high):
        # Fractions round a tie to the even number, as the form does.
        assert asked.encode(dump_decimal(beside)) == round((beside - parse_decimal(low)) / parse_decimal(step))
    else:
        with pytest.raises(AnswerError):
            asked.encode(dump_decimal(beside))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
                    max_leaves=5))  # fmt: skip
def test_encode_fails_only_with_answer_errors(answer):
    """Whatever a form hands over is an answer or an AnswerError, never another error that might carry it along."""
    for asked in ENCODABLE:
        try:
            value = asked.encode(answer)
        except AnswerError:
            continue
        asked.check(value)


COIN = {"a": "3/4", "b": "1/4"}
ENCODABLE = [
    parsed(question({"name": "coin_flip"})),
    parsed(question({"name": "sampled_option", **COIN}, "select_multiple", choices=names(3), max_choices=1)),
    parsed(question({"name": "rounding_rr", **COIN}, "integer", min=0, max=5)),
    parsed(question({"name": "sampled_coordinate", **COIN}, "vector", coordinates=names(2), min=0, max=5, step=1)),
]
