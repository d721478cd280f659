import io
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from sottovoce import records
from sottovoce.aggregator import estimate
from sottovoce.aggregator.analysis.data_file.column_channel import UnknownValue
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns, described_questions, described_survey
from sottovoce.aggregator.analysis.data_file.parse_channel import parse_channel
from sottovoce.aggregator.analysis.data_file.randomize import randomize
from sottovoce.aggregator.analysis.data_file.read_table import read_bytes, read_delimited
from sottovoce.aggregator.analysis.data_file.shares import shares_of_file
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.estimators.intervals import t_quantile
from sottovoce.aggregator.export.results_client.open_data import OpenData, of_table, open_data
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.client.draws import Draws
from sottovoce.shared.by_link.link_question import parse_link, write_code
from sottovoce.shared.channel_text import dump_block
from sottovoce.shared.errors import AnswerError, SpecError, SurveyError
from sottovoce.shared.mechanisms.joint_rr import JointRR

from tests.blocks import reports
from tests.commands import done, refused, run
from tests.unit.shared.test_schema import validate
from tests.vectors.cases import named
from tests.vectors.tape import Tape

N = 240

ROW = np.arange(N)

STRATA, PLACES = ROW * 3 // N, ROW * 7 % 5

WEIGHTS = 0.5 + ROW * 37 % 11 / 4 + STRATA

SAID = (ROW * 61 + STRATA * 7) % 100 < 35 + 5 * PLACES

HEADER = "cheated,open,age,stratum,place,w"


def opened(folder: Path, lines: list[str] | None = None, channel: str = "coin_flip") -> OpenData:
    of_rows = zip(ROW, SAID, STRATA, PLACES, WEIGHTS, strict=True)
    made = [f"{'yes' if yes else 'no'},{'ab'[int(row % 3 > 0)]},{20 + row * 7 % 50},s{s},p{p},{w}"
            for row, yes, s, p, w in of_rows]  # fmt: skip
    (folder / "answers.csv").write_text("\n".join([HEADER, *(lines or made)]), encoding="utf-8")
    return open_data(folder / "answers.csv", {"cheated": channel})


def written_out(scores: Any, weights: Any, strata: Any, clusters: Any) -> tuple[float, float, int]:
    """Point, linearised error and degrees of freedom, as a survey package has them."""
    point = (weights * scores).sum() / weights.sum()
    parts, variance, degrees = weights * (scores - point) / weights.sum(), 0.0, 0
    for stratum in np.unique(strata):
        inside = strata == stratum
        sums = np.array([parts[inside & (clusters == each)].sum() for each in np.unique(clusters[inside])])
        variance += len(sums) / (len(sums) - 1) * ((sums - sums.mean()) ** 2).sum()
        degrees += len(sums) - 1
    return point, variance**0.5, degrees


COUNTS = ((60, 40), (140, 160))

"""People by answer to the anchor (0, 1) and to the question (0, 1)."""


CMDATA = ((148, 311), (425, 1116))

"""The same in ``cmdata`` of the R package cWise, p .15 at both questions."""


def _file(folder: Path, counts: tuple[tuple[int, int], ...] = COUNTS) -> Path:
    path = folder / "answers.csv"
    rows = [f"{a},{q},{'xyz'[a + q]}" for a in (0, 1) for q in (0, 1) for _ in range(counts[a][q])]
    path.write_text("\n".join(["a,q,c", *rows]))
    return path


def _open(folder: Path, q: str = "crosswise 1/4 same=1", a: str = "crosswise 1/5 same=1") -> OpenData:
    return open_data(_file(folder), {"q": q, "a": a})


PEOPLE = 400

COIN: dict[str, Any] = {"type": "boolean", "name": "cheated", "label": {"en": "Ever?"}, "mechanism": named("coin_flip")}

BLOCK = {
    "block": "both",
    "items": [{"type": "boolean", "name": name, "label": {"en": f"Have you {name}?"}} for name in ("drank", "lied")],
    "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
}

THEN = {"then": "https://docs.google.com/forms/d/x/viewform", "code": "entry.1"}


def codes(document: dict[str, Any], answers: list[Any]) -> list[str]:
    """Return the codes of people with these answers to the questions of a stop; None declines."""
    link, draws, found = parse_link(document), Draws(Tape("codes")), []
    for answer in answers:
        number = None
        for place, asked in enumerate([] if answer is None else link.asked):
            report = records.simulate(asked.document, answer[place], draws).report
            number = (number or 0) * link.sizes[place] + report
        found.append(write_code(link.digest, math.prod(link.sizes), number, 1))
    return found


def estimated(folder: Path, document: dict[str, Any], cells: list[str], *more: str) -> Result:
    """Estimate an export whose column of codes has these cells."""
    (folder / "question.yaml").write_text(json.dumps(document))
    lines = [f'2026-11-27,"{cell}",{"first" if place % 2 else "second"}' for place, cell in enumerate(cells)]
    (folder / "data.csv").write_text("\n".join(["Timestamp,Paste it here,year", *lines]))
    words = ["results", "estimate", str(folder / "data.csv"), "--question", str(folder / "question.yaml"), *more]
    return run(*words)


def shares(ended: Result) -> dict[str, float]:
    rows = {result["name"]: result for result in json.loads(ended.stdout)["questions"]}
    return {
        name: next(float(row["raw"]) for row in result["estimates"] if row.get("option") == "yes")
        for name, result in rows.items()
        if name not in {"year", "Timestamp"}
    }


@pytest.mark.parametrize(
    ("design", "weights", "strata", "clusters"),
    [
        ({"weights": "w"}, WEIGHTS, 0 * ROW, ROW),
        ({"weights": WEIGHTS}, WEIGHTS, 0 * ROW, ROW),
        ({"weights": "w", "strata": "stratum"}, WEIGHTS, STRATA, ROW),
        ({"weights": "w", "strata": "stratum", "clusters": "place"}, WEIGHTS, STRATA, PLACES),
        ({"clusters": "place"}, np.ones(N), 0 * ROW, PLACES),
    ],
    ids=["column", "array", "strata", "clusters in strata", "clusters alone"],
)
def test_errors_are_those_of_the_design(
    tmp_path: Path, design: Any, weights: np.ndarray, strata: np.ndarray, clusters: np.ndarray
) -> None:
    """Of a coin's answer, an open one and a mean; limits by t on the logit of the share that is reported."""
    rows = {row["question"]: row for row in opened(tmp_path).shares(**design).rows}
    scores = {"cheated": (SAID - 0.25) / 0.5, "open": (ROW % 3 > 0) * 1.0, "age": 20 + ROW * 7 % 50}
    for name, of_rows in scores.items():
        point, error, degrees = written_out(of_rows, weights, strata, clusters)
        assert (rows[name]["raw"], rows[name]["std_error"]) == pytest.approx((point, error), rel=1e-9)
    point, error, degrees = written_out(scores["cheated"], weights, strata, clusters)
    share = 0.25 + point / 2
    logit = np.log(share / (1 - share)) + np.array([-1, 1]) * t_quantile(0.95, degrees) * error / 2 / share / (
        1 - share
    )
    low, high = (1 / (1 + np.exp(-logit)) - 0.25) * 2
    assert (rows["cheated"]["low"], rows["cheated"]["high"]) == pytest.approx((max(low, 0), high), rel=1e-6)
    assert {"w", "stratum", "place"} & set(rows) == {"w", "stratum", "place"} - {
        each for each in design.values() if isinstance(each, str)
    }


def test_shares_beyond_the_edge_have_limits_of_the_channel(tmp_path: Path) -> None:
    """A raw share below 0, and nobody at all: limits of as many effective reports, never a point."""
    few = [f"{'yes' if row % 9 == 0 else 'no'},a,{row},s,p,{1 + row % 2}" for row in range(90)]
    rows = {row["question"]: row for row in opened(tmp_path, few).shares("cheated", "place", weights="w").rows}

    assert rows["cheated"]["raw"] < 0
    assert (rows["cheated"]["shown"], rows["cheated"]["low"], rows["cheated"]["method"]) == (0, 0, "score-cc")
    assert 0.02 < rows["cheated"]["high"] < 0.25
    assert 0.9 < rows["place"]["low"] < rows["place"]["high"] == 1


def test_weighted_limits_of_few_people_hold_their_level(tmp_path: Path) -> None:
    """By all counts of 100 open answers with equal weights: limits on the logit hold .87, .93 and .95."""
    truths, missed = (0.0013, 0.0095, 0.02), np.zeros(3)
    for yes in range(9):
        lines = [f"no,{'a' if row < yes else 'b'},1,s,p,2" for row in range(100)]
        rows = opened(tmp_path, lines).shares("open", weights="w").rows
        ends = next(((row["low"], row["high"]) for row in rows if row["option"] == "a"), (0.0, 1.0))
        for place, p in enumerate(truths):
            missed[place] += math.comb(100, yes) * p**yes * (1 - p) ** (100 - yes) * (not ends[0] <= p <= ends[1])
    assert (missed < 0.03).all()


def test_rows_without_an_answer_keep_their_cluster(tmp_path: Path) -> None:
    lines = [f"{'' if row % 4 == 0 else 'yes' if SAID[row] else 'no'},a,1,s{STRATA[row]},p{PLACES[row]},{WEIGHTS[row]}"
             for row in ROW]  # fmt: skip
    [row] = opened(tmp_path, lines).shares("cheated", weights="w", strata="stratum", clusters="place").rows
    weights = np.where(ROW % 4 == 0, 0.0, WEIGHTS)
    point, error, _ = written_out((SAID - 0.25) / 0.5, weights, STRATA, PLACES)

    assert (row["n"], row["raw"], row["std_error"]) == (180, pytest.approx(point), pytest.approx(error))


@pytest.mark.parametrize(
    ("lines", "design", "words"),
    [
        (["yes,a,1,s1,p1,1", "no,a,1,s1,p1,1", "no,a,1,s2,p1,1", "no,a,1,s2,p2,1"],
         {"strata": "stratum", "clusters": "place"}, "answers.csv, line 2: its stratum has one cluster only"),
        (["yes,a,1,s1,p1,1", "no,a,1,s1,p1,1"], {"clusters": "place"}, "line 2: its stratum has one cluster only"),
        (["yes,a,1,s1,p1,1", "no,a,1,,p1,1"], {"strata": "stratum"}, "line 3, column 'stratum': is empty"),
        (["yes,a,1,s1,p1,1", "no,a,1,s1,p1,"], {"weights": "w"}, "line 3, column 'w': is empty"),
        (["yes,a,1,s1,p1,1", "no,a,1,s1,p1,-1"], {"weights": "w"}, "line 3, column 'w': is not a number above 0"),
        (["yes,a,1,s1,p1,1", 'no,a,1,s1,p1,"1,5"'], {"weights": "w"}, "line 3, column 'w': has a comma"),
        (["yes,a,1,s1,p1,1", "no,a,1,s1,p1,1"], {"weights": "v"}, "has no column 'v'; it has: cheated, open"),
        (["yes,a,1,s1,p1,1", "no,a,1,s1,p1,1"], {"weights": [1.0]}, "there are 1 weights for 2 reports"),
    ],
)  # fmt: skip
def test_design_that_tells_no_variance_is_refused(tmp_path: Path, lines: list[str], design: Any, words: str) -> None:
    with pytest.raises(SurveyError, match=words):
        opened(tmp_path, lines).shares(**design)


def test_tables_take_a_column_of_weights(tmp_path: Path) -> None:
    data = opened(tmp_path)
    named, given = (data.crosstab("stratum", "cheated", weights=each).rows for each in ("w", WEIGHTS))
    assert named == given


INFIDELITY = ("10 7 20 6 10 2 15 5 15 6 10 7 15 7 10 4 15 3 20 8 10 4 10 3 15 8 20 11",
              "20 10 15 10 20 5 10 3 15 6 15 6 10 5 20 8 15 9 10 5 20 12")  # fmt: skip

"""Reports and their yes in each group of students, by faculty: HorvitzDataStCl of the R package RRTCS."""


@pytest.mark.parametrize("design", [{"weights": "w"}, {"strata": "s"}])
def test_error_of_an_innocuous_share_is_in_those_of_a_design(tmp_path: Path, design: dict[str, str]) -> None:
    """Of 40 % same through 1/4 +- 1/20 the share is (3/4 - .4) / .5 = .7, and moves by (1 - 2 .4) / .25 a share."""
    lines = [f"{int(row % 5 < 2)},1,{row % 2}" for row in range(400)]
    (tmp_path / "a.csv").write_text("\n".join(["q,w,s", *lines]), encoding="utf-8")
    channel = {"q": "crosswise 1/4 se=1/20 fact=spring same=1"}
    [found] = open_data(tmp_path / "a.csv", channel).shares("q", **design).rows
    exact = math.sqrt(0.4 * 0.6 / 399) / 0.5
    assert found["raw"] == pytest.approx(0.7)
    assert found["std_error"] == pytest.approx(math.hypot(exact, 0.8 * 0.05), rel=0.01)
    assert found["high"] - found["low"] > 2 * 1.96 * found["std_error"]


def test_published_survey_of_groups_in_faculties_is_met(tmp_path: Path) -> None:
    """Unrelated question with p = .6 and alpha = .5, inclusion probabilities .28 and .22."""
    lines = []
    for stratum, (counts, chance) in enumerate(zip(INFIDELITY, (0.28, 0.22), strict=True)):
        numbers = list(map(int, counts.split()))
        for group, (people, yes) in enumerate(zip(numbers[::2], numbers[1::2], strict=True)):
            lines += [
                f"{'yes' if place < yes else 'no'},a,1,s{stratum},p{group},{1 / chance}" for place in range(people)
            ]
    data = opened(tmp_path, lines, "unrelated_question 0.6 0.5")
    [row] = data.shares("cheated", weights="w", strata="stratum", clusters="place").rows

    assert row["n"] == 365
    assert (row["raw"], row["std_error"]) == pytest.approx((0.4022, 0.0474), abs=6e-5)


INFERTILITY = (
    "18.42,14,5 34.2,6,0 79.02,7,1 86.43,7,1; 56.07,7,1; 34.43,6,2 52,7,1 57.28,4,4 63.75,7,1 66.21,6,2 "
    "78.57,4,2; 22,6,2 30,6,2 48.05,5,2 67.96,6,1; 29.93,7,1 47.25,8,0 48.78,7,0 52.5,6,2 55.75,5,3 67.67,3,2 "
    "70.42,4,2 74.57,6,2; 45.25,7,1; 22.32,7,1 25.56,5,4 32.91,6,2 56.86,7,1 87.66,5,5 208.83,1,1; 36.86,7,1 "
    "73.79,4,4; 26.69,14,2 33.84,3,7 57.17,8,0 65,6,2 67.64,5,3 148.57,4,0; 79.17,2,2 108.5,5,3; 27.77,11,0 "
    "71.17,6,2; 38.79,6,2; 65.63,4,4 67.08,7,1 81.08,6,2 86.13,5,3; 61.67,6,2 72,6,2 126,4,1; 53.1,4,3 62.57,7,1; "
    "88.33,3,0; 37.5,3,7; 59.17,4,4; 59.79,7,1"
)

"""Weight and reports of no and yes, by stratum: ForcedResponseDataSt of the R package RRTCS."""


def test_published_survey_of_women_in_strata_is_met(tmp_path: Path) -> None:
    """Forced yes and no with 1/6 each; R gives .14406, by a rounded number of people."""
    lines = []
    for stratum, cells in enumerate(INFERTILITY.split("; ")):
        for cell in cells.split():
            weight, no, yes = cell.split(",")
            lines += [f"{said},a,1,s{stratum},p1,{weight}" for said, n in (("no", no), ("yes", yes))
                      for _ in range(int(n))]  # fmt: skip
    data = opened(tmp_path, lines, "forced_response yes=1/6 no=1/6")
    [row] = data.shares("cheated", weights="w", strata="stratum").rows

    assert row["n"] == 442
    assert (row["raw"], row["std_error"]) == pytest.approx((0.14405, 0.03486), abs=1e-5)


def drawn(generator: np.random.Generator) -> list[str]:
    """A sample of 3 strata of 12 clusters of 6 to 9 people, whose shares of yes differ between clusters."""
    lines = []
    for stratum, share, weight in ((0, 0.2, 6.0), (1, 0.35, 1.0), (2, 0.5, 2.0)):
        for cluster in range(12):
            people = 6 + cluster % 4
            yes = generator.random(people) < share + 0.3 * (generator.random() - 0.5)
            said = np.where(generator.random(people) < 0.5, yes, generator.random(people) < 0.5)
            lines += [f"{'yes' if each else 'no'},{'yes' if own else 'no'},1,s{stratum},p{cluster},{weight}"
                      for each, own in zip(said, yes, strict=True)]  # fmt: skip
    return lines


@pytest.mark.slow
def test_limits_cover_with_weights_strata_and_clusters() -> None:
    """An open answer and a coin's: what weights without clusters would cover less often."""
    generator, held = np.random.Generator(np.random.PCG64(5)), {"cheated": 0, "open": 0}
    for _ in range(2000):
        text = "\n".join([HEADER, *drawn(generator)]).encode()
        data = of_table(read_delimited(io.BytesIO(text), "answers.csv"), {"cheated": "coin_flip"})
        for row in data.shares("cheated", "open", weights="w", strata="stratum", clusters="place").rows:
            held[row["question"]] += row["low"] <= (6 * 0.2 + 0.35 + 2 * 0.5) / 9 <= row["high"]

    assert min(held.values()) >= 0.9345 * 2000, held


def test_crosswise_design_with_an_anchor(tmp_path: Path) -> None:
    """Atsusaka and Stevenson: e and the share from the two shares of equal answers, here by hand."""
    document = _open(tmp_path).shares(anchors={"a": "0"}).document
    validate("shares", document)
    e = (300 / 400 - 4 / 5) / (1 / 2 - 4 / 5)
    naive = (200 / 400 - 3 / 4) / (1 / 4 - 3 / 4)
    careless, question = document["careless"], document["questions"][1]
    [*_, yes] = question["corrected"]["estimates"]
    assert careless["raw"] == pytest.approx(e)
    assert yes["raw"] == pytest.approx((naive - e / 2) / (1 - e))
    assert yes["low"] < yes["raw"] < yes["high"]
    assert document["warnings"] == ["not corrected for careless reports: c"]


def test_published_example_is_reproduced(tmp_path: Path) -> None:
    """``bc.est`` of cWise: .1950 naive (standard error .0144), .1054 corrected."""
    channels = dict.fromkeys("qa", "crosswise 0.15 same=1")
    document = open_data(_file(tmp_path, CMDATA), channels).shares(anchors={"a": "0"}).document
    question = document["questions"][1]
    [*_, naive], [*_, yes] = question["estimates"], question["corrected"]["estimates"]
    assert [round(naive[key], 4) for key in ("raw", "std_error")] == [0.1950, 0.0144]
    assert round(yes["raw"], 4) == 0.1054


@pytest.mark.parametrize(("a", "b"), [("9/10", "1/6"), ("3/4", "1/2")])
def test_careless_report_is_random_whatever_the_channel(a: str, b: str, tmp_path: Path) -> None:
    """Half of careless reports say yes, also where the channel's own would not."""
    channel = f"binary_rr a={a} b={b}"
    document = _open(tmp_path, channel, "warner 4/5").shares(anchors={"a": "1"}).document
    e = document["careless"]["raw"]
    high, low = (int(each[0]) / int(each.split("/")[1]) for each in (a, b))
    assert e == pytest.approx((300 / 400 - 4 / 5) / (1 / 2 - 4 / 5))
    careful = (0.5 - e / 2) / (1 - e)
    [*_, yes] = document["questions"][1]["corrected"]["estimates"]
    assert yes["raw"] == pytest.approx((careful - low) / (high - low))


@pytest.mark.slow
def test_limits_of_the_enhanced_crosswise_design_cover() -> None:
    """In 200 samples of 600 people, a fifth of them careless, limits hold the true share in .91 to .99."""
    draws, held = np.random.default_rng(7), 0
    for _ in range(200):
        held += _one_sample(draws)
    assert 0.91 <= held / 200 <= 0.99


def _one_sample(draws: np.random.Generator) -> bool:
    n, share, e = 600, 0.2, 0.2
    careless = draws.random(n) < e
    equal = [np.where(careless, draws.random(n) < 0.5, (draws.random(n) < p) == truth) for p, truth in
             ((0.25, draws.random(n) < share), (0.2, np.zeros(n, bool)))]  # fmt: skip
    rows = "\n".join(f"{int(a)},{int(q)}" for q, a in zip(*equal, strict=True))
    channels = {"q": "crosswise 1/4 same=1", "a": "crosswise 1/5 same=1"}
    table = read_bytes(f"a,q\n{rows}".encode(), "a.csv")
    document = shares_of_file(table, data_columns(table, channels), anchors={"a": "0"})
    [*_, yes] = document["questions"][1]["corrected"]["estimates"]
    return bool(yes["low"] <= share <= yes["high"])


@pytest.mark.parametrize(
    ("anchors", "channel", "words"),
    [
        ({"b": "0"}, "crosswise 1/5 same=1", "no column 'b' for an anchor"),
        ({"c": "0"}, "crosswise 1/5 same=1", "must have two answers and one channel"),
        ({"a": "1/2"}, "crosswise 1/5 same=1", "cannot tell careless reports"),
        ({"a": "2"}, "crosswise 1/5 same=1", "must be a number from 0 to 1"),
        ({"a": "1e-99999"}, "crosswise 1/5 same=1", "must be a number from 0 to 1"),
        ({"a": "0"}, "crosswise 1/5 se=1/50 fact=b same=1", "without se"),
    ],
)
def test_anchor_that_tells_nothing_is_refused(
    anchors: dict[str, str], channel: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(SurveyError, match=words):
        _open(tmp_path, a=channel).shares(anchors=anchors)


def test_command_prints_both_shares(tmp_path: Path) -> None:
    words = ["results", "estimate", str(_file(tmp_path)), "--channel", "q=crosswise 1/4 same=1"]
    words += ["--channel", "a=crosswise 1/5 same=1", "--anchor", "a=0"]
    printed = run(*words).output
    assert "Careless answers: 16.7%" in printed
    assert "q: yes (Corrected" in printed
    refused = run(*words, "--strata", "c")
    assert refused.exit_code != 0
    assert "do not go together" in refused.output + str(refused.exception)


def test_codes_are_estimated_as_their_reports(tmp_path: Path) -> None:
    answers = [
        None if number % 10 == 0 else [{"drank": "yes", "lied": "no"}, "yes" if number % 4 == 1 else "no"]
        for number in range(PEOPLE)
    ]
    document = {"questions": [BLOCK, COIN], **THEN}
    ended = done(estimated(tmp_path, document, [*codes(document, answers), "", ""], "--json"))
    found = shares(ended)
    assert set(found) == {"drank", "lied", "cheated"}
    asked = [answer[1] for answer in answers if answer is not None]
    assert found["cheated"] == pytest.approx(asked.count("yes") / len(asked), abs=0.15)
    assert found["drank"] > 0.85
    assert found["lied"] < 0.15


def test_who_gave_no_answer_in_a_window_is_no_option(tmp_path: Path) -> None:
    """As in a survey: shares are of those who answered; one by one, in a block, and with codes."""
    reported = ["no"] * 270 + ["yes"] * 190 + ["absent"] * 140
    kary, block = "kary_rr odds=3 levels=no,yes,absent", "joint_rr odds=9 radius=0 k=3,2 with=q,r"
    rows = [f'{each},"{kary}",{"ab"[at % 2]}' for at, each in enumerate(reported)]
    (tmp_path / "host.csv").write_text("\n".join(["q,q_channel,half", *rows]))
    found = open_data(tmp_path / "host.csv")
    [asked, _] = found.shares().document["questions"]
    assert [each["raw"] for each in asked["estimates"]] == pytest.approx([0.625, 0.875 / 3, 0.25 / 3])
    assert [each["raw"] for each in asked["among_answered"]] == pytest.approx([7.5 / 11, 3.5 / 11])
    rows = [(row["option"], row["among"]) for row in found.estimates if row["question"] == "q"]
    assert rows == [("no", "all"), ("yes", "all"), ("absent", "all"), ("no", "answered"), ("yes", "answered")]
    names = SurveyVariables(described_survey("file", described_questions(found.columns)), Words("en"))
    assert (names.category("q", "absent"), names.answers("q")) == ("No answer", ["no", "yes"])
    compared = found.compare("q", "half").document
    assert (compared["category"], compared["people"]) == ("yes", "answered")
    table = run("results", "estimate", tmp_path / "host.csv").output
    assert "68.2%" in table
    assert "Among those who answered" in table
    (tmp_path / "own.csv").write_text("\n".join(["q", *reported]))
    [own] = open_data(tmp_path / "own.csv", {"q": kary}).shares().document["questions"]
    assert [each["raw"] for each in own["estimates"]] == pytest.approx([0.625, 0.875 / 3, 0.25 / 3])
    assert "among_answered" not in own

    rows = [f'{each},"{block}",{"no" if at % 3 else "yes"},"{block}"' for at, each in enumerate(reported)]
    (tmp_path / "host.csv").write_text("\n".join(["q,q_channel,r,r_channel", *rows]))
    asked, other = open_data(tmp_path / "host.csv").shares().document["questions"]
    assert [each["option"] for each in asked["estimates"]] == ["no", "yes", "absent"]
    assert [each["option"] for each in asked["among_answered"]] == ["no", "yes"]
    assert "among_answered" not in other

    document = {**COIN, **THEN, "absent_category": True, "mechanism": named("kary_rr", odds="3")}
    coded = json.loads(estimated(tmp_path, document, codes(document, [["yes"], [None]] * 30), "--json").stdout)
    [asked] = [each for each in coded["questions"] if each["name"] == "cheated"]
    assert [each["option"] for each in asked["among_answered"]] == ["no", "yes"]
    validate("shares", coded)


def test_tables_take_the_file_of_the_question_as_a_channel(tmp_path: Path) -> None:
    document = {**COIN, **THEN}
    estimated(tmp_path, document, codes(document, [["yes" if place % 3 else "no"] for place in range(PEOPLE)]))
    words = ["--rows", "cheated", "--columns", "year", "--channel", str(tmp_path / "question.yaml")]
    ended = done(run("results", "crosstab", tmp_path / "data.csv", *words))
    assert "“year” by “cheated”" in ended.output


def test_edited_code_is_refused_with_its_line(tmp_path: Path) -> None:
    document = {**COIN, **THEN}
    cells = codes(document, [["yes"]] * 5)
    edited = ("C" if cells[2][0] != "C" else "D") + cells[2][1:]
    for wrong in (edited, "I have never cheated"):
        ended = refused(estimated(tmp_path, document, [*cells[:2], wrong, *cells[3:]]))
        assert "line 4, column 'Paste it here'" in ended.output
        assert "edited" in ended.output
        assert wrong not in ended.output


def test_file_without_a_column_of_its_own_for_the_question_is_refused(tmp_path: Path) -> None:
    cells = codes({**COIN, **THEN, "consent": {"en": "May we?"}}, [["yes"]] * 3)
    ended = estimated(tmp_path, {**COIN, **THEN}, cells)
    assert "no column holds codes of the question with digest" in ended.output
    document = {**COIN, "name": "year", **THEN}
    assert "rename it" in estimated(tmp_path, document, codes(document, [["yes"]] * 3)).output


@pytest.mark.parametrize(
    ("text", "a", "b"),
    [
        ("coin_flip", "3/4", "1/4"),
        ("warner 0.7", "7/10", "3/10"),
        ("warner truth=7/10", "7/10", "3/10"),
        ("forced_response yes=1/6 no=1/12", "11/12", "1/6"),
        ("forced_response truth=3/4 yes=1/6 no=1/12", "11/12", "1/6"),
        ("unrelated_question 2/3 1/4", "3/4", "1/12"),
        ("binary_rr a=1 b=1/3", "1", "1/3"),
        ("crosswise 1/4 same=A", "1/4", "3/4"),
        ("crosswise 1/4 se=1/50 same=A", "1/4", "3/4"),
        ("unrelated_question 2/3 1/4 se=1/50 fact=born", "3/4", "1/12"),
    ],
)
def test_designs_have_their_channel(text: str, a: str, b: str) -> None:
    rows = parse_channel(text).rows
    assert rows == ((1 - Fraction(b), Fraction(b)), (1 - Fraction(a), Fraction(a)))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("coin flip", "is no channel"),
        ("", "is no channel"),
        ("stochastic_lie_detector 0.7", "is a design with an unknown share"),
        ("cheater_detection yes=1/6", "probabilities of a single report must be known"),
        *((name, "is a design with an unknown share") for name in DESIGNS),
        ("coin_flip 3", "parameters: none"),
        ("warner", "parameters: truth"),
        ("warner 0.7 0.3", "parameters: truth"),
        ("warner 7/0", "must be a number"),
        ("warner 1e9", "must be a number"),
        ("warner 1.2", "between 0 and 1"),
        ("warner 0.5", "singular"),
        ("binary_rr a=1/4 a=1/4", "given twice"),
        ("forced_response yes=1/2 no=1/2", "less than 1"),
        ("forced_response truth=1/2 yes=1/6 no=1/12", "sum to 1"),
        ("kary_rr 3", "how many options"),
        ("kary_rr 1 k=3", "above 1"),
        ("kary_rr 3 k=2 levels=a,b,c", "as many"),
        ("kary_rr 3 k=1", "2 to 100"),
        ("crosswise 0.4 se=1/20", "on one side of 1/2"),
        ("unrelated_question 2/3 1/4 se=1/8", "between 0 and 1"),
        ("crosswise 1/4 se=-1/50", "smaller se"),
        ("coin_flip levels=a,b,c", "two levels"),
        ("coin_flip levels=a,a", "one name"),
        ([[0.5, 0.5], [0.2, 0.7]], "row 2 of the matrix sums to 0.9"),
        ({"levels": ["a"]}, "map of matrix or channel"),
        (3, "text such as"),
        ("joint_rr odds=9 radius=0 k=2,2", "has the parameters"),
        ("joint_rr odds=9 radius=0 k=2,2 with=a", "as many different columns"),
        ("joint_rr odds=9 radius=0 k=2,2 with=a,a", "as many different columns"),
        ("joint_rr odds=1 radius=0 k=2,2 with=a,b", "odds must be above 1"),
    ],
)
def test_no_channel_is_refused(given: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_channel(given)


def test_values_are_recognized_as_the_file_writes_them() -> None:
    for found, options in ((["Yes", "No"], ("No", "Yes")), (["ja"], ("nein", "ja")), (["1", "0"], ("0", "1"))):
        assert parse_channel("coin_flip").read(found).options == options
    for found in (["yes", "YES"], ["yes", "perhaps"]):
        with pytest.raises(ValueError, match="levels=NO,YES"):
            parse_channel("coin_flip").read(found)


def test_crosswise_needs_to_know_which_value_means_same() -> None:
    """1 and 0 do not say it, and a guess would turn the share around."""
    with pytest.raises(ValueError, match="same=VALUE"):
        parse_channel("crosswise 1/4").read(["0", "1"])
    assert parse_channel("crosswise 1/4 same=1").read(["1", "0"]).reports == {"0": 0, "1": 1}
    assert parse_channel("crosswise 1/4").read(["Same", "different"]).reports == {"different": 0, "Same": 1}


def test_options_that_nobody_reported_still_count() -> None:
    """The channel of four options is not the channel of the three that are in the file."""
    reading = parse_channel("kary_rr 3 k=4").read(["2", "10", "1"])
    assert reading.options == ("1", "2", "10", "(not reported 1)")
    assert reading.channel.rows[0] == (Fraction(1, 2), *[Fraction(1, 6)] * 3)
    with pytest.raises(UnknownValue) as raised:
        parse_channel("kary_rr 3 k=2").read(["a", "b", "c"])
    assert raised.value.value == "c"


def test_matrix_without_levels_reads_no_and_yes() -> None:
    """Its rows alone are a channel where the column's values say which is which."""
    channel = parse_channel([["3/4", "1/4"], ["1/4", "3/4"]])
    assert channel.read(["yes", "no"]).options == ("no", "yes")


def test_matrix_has_more_reports_than_truths() -> None:
    given = {"matrix": [["0.5", "0.3", "0.2"], [0, "0.2", "0.8"]], "levels": ["no", "yes"], "reports": ["a", "b", "c"]}
    reading = parse_channel(given).read(["c", "a"])
    assert (reading.options, reading.reports) == (("no", "yes"), {"a": 0, "b": 1, "c": 2})


def bytes_in_turn(numbers: range) -> "object":
    left = iter(numbers)
    return lambda count: bytes(next(left) for _ in range(count))


def test_reports_are_drawn_with_the_channel_s_probabilities() -> None:
    read = bytes_in_turn(range(256))
    drawn = [randomize("coin_flip", True, read) for _ in range(256)]  # type: ignore[arg-type]
    assert (drawn.count("yes"), drawn.count("no")) == (192, 64)
    assert randomize("kary_rr 3 levels=never,once,often", "once") in {"never", "once", "often"}


@pytest.mark.parametrize(
    ("channel", "answer", "error", "told"),
    [
        ("coin_flip", "perhaps", AnswerError, r"none of: no, yes$"),
        ("kary_rr 3 k=4", "once", SpecError, "levels"),
        ("joint_rr odds=9 radius=0 k=2,2 with=a,b", "yes", SpecError, "drawn together"),
    ],
)
def test_answer_that_cannot_be_randomized_is_refused(
    channel: str, answer: str, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        randomize(channel, answer)


def test_columns_of_one_block_are_analysed_together_from_their_channel_alone(tmp_path: Path) -> None:
    mechanism, rng = JointRR(Fraction(9), 0, (2, 3)), np.random.default_rng(3)
    truth = np.array([[0.3, 0.2, 0.1], [0.05, 0.15, 0.2]])
    both = rng.choice(6, 20_000, p=truth.ravel())
    drawn = reports(mechanism, np.stack([both // 3, both % 3], 1), rng)
    text = dump_block(mechanism, ["smokes", "often"])
    assert text == "joint_rr odds=9 radius=0 k=2,3 with=smokes,often"
    lines = [f'{("no", "yes")[a]},"{text}",{"xyz"[b]},"{text}"' for a, b in drawn]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["smokes,smokes_channel,often,often_channel", *lines]), encoding="utf-8")

    data = open_data(path)
    shares = {(row["question"], row["option"]): row["raw"] for row in data.shares().rows}
    assert shares["smokes", "yes"] == pytest.approx(0.4, abs=0.02)
    assert shares["often", "y"] == pytest.approx(0.35, abs=0.02)
    cells = [row["raw"] for row in data.crosstab("smokes", "often").rows]
    assert cells == pytest.approx(truth.ravel().tolist(), abs=0.02)
    fitted = data.block("smokes", "often")
    assert fitted.table == pytest.approx(truth, abs=0.02)
    assert fitted.p > 0.01


def test_column_that_its_block_does_not_name_is_refused() -> None:
    """Its place among the others is not known."""
    with pytest.raises(ValueError, match="with= must name the column itself"):
        parse_channel("joint_rr odds=9 radius=0 k=2,2 with=a,b").read(["no", "yes"], "c")


@pytest.mark.parametrize("share", ["1/4", "3/4"])
def test_error_of_a_share_leaves_the_estimate_and_widens_its_limits(share: str) -> None:
    """In a file as in counts, on both sides of 1/2; a report that is drawn has the same chances."""
    counts, told = {"same": 52, "different": 48}, [f"crosswise {share}", f"crosswise {share} se=1/20"]
    exact, wide = (estimate(counts, each).rows[0] for each in told)
    assert wide["shown"] == pytest.approx(exact["shown"], rel=1e-12)
    assert wide["low"] < exact["low"] < exact["high"] < wide["high"]
    drawn = [[randomize(each, True, lambda n, k=k: bytes([k]) * n) for k in range(0, 256, 15)] for each in told]
    assert drawn[0].count("same") == drawn[1].count("same") > 0


def test_columns_that_name_one_fact_share_its_error(tmp_path: Path) -> None:
    """The same people say no to both; with two facts, the errors would not be one."""
    dice = np.random.default_rng(3)
    rows = [
        ("same" if one else "different", "same" if other else "different") for one, other in dice.random((300, 2)) < 0.7
    ]
    file = tmp_path / "two.csv"
    file.write_text("a,b\n" + "\n".join(map(",".join, rows)), encoding="utf-8")

    def width(*facts: str) -> float:
        channels = {name: f"crosswise 1/4 se=1/25 {fact}" for name, fact in zip("ab", facts, strict=True)}
        cell = open_data(file, channels).crosstab("a", "b").rows[0]
        return float(cell["high"] - cell["low"])

    two = width("fact=spring", "fact=autumn")
    assert width("fact=spring", "fact=spring") != pytest.approx(two, rel=0.01)
    assert width("", "") == pytest.approx(two, rel=1e-9)
