"""Shares of a file corrected for careless reports, by columns with a known share."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.read_table import read_bytes
from sottovoce.aggregator.analysis.data_file.shares import shares_document
from sottovoce.aggregator.export.results_client.open_data import OpenData, open_data
from sottovoce.cli.main import main
from sottovoce.shared.errors import SurveyError

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


def test_crosswise_design_with_an_anchor(tmp_path: Path) -> None:
    """Atsusaka and Stevenson: e and the share from the two shares of equal answers, here by hand."""
    document = _open(tmp_path).shares(anchors={"a": "0"}).document
    schema = files("sottovoce.shared").joinpath("schema/shares.schema.json").read_text()
    jsonschema.validate(json.loads(json.dumps(dict(document))), json.loads(schema))
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
    document = shares_document(data_columns(read_bytes(f"a,q\n{rows}".encode(), "a.csv"), channels), anchors={"a": "0"})
    [*_, yes] = document["questions"][1]["corrected"]["estimates"]
    return bool(yes["low"] <= share <= yes["high"])


@pytest.mark.parametrize(
    ("anchors", "channel", "words"),
    [
        ({"b": "0"}, "crosswise 1/5 same=1", "no column 'b' for an anchor"),
        ({"c": "0"}, "crosswise 1/5 same=1", "must have two answers and one channel"),
        ({"a": "1/2"}, "crosswise 1/5 same=1", "cannot tell careless reports"),
        ({"a": "2"}, "crosswise 1/5 same=1", "must be a number from 0 to 1"),
        ({"a": "0"}, "crosswise 1/5 se=1/50 fact=b same=1", "without se"),
    ],
)
def test_anchor_that_tells_nothing_is_refused(
    anchors: dict[str, str], channel: str, words: str, tmp_path: Path
) -> None:
    """With what an anchor needs."""
    with pytest.raises(SurveyError, match=words):
        _open(tmp_path, a=channel).shares(anchors=anchors)


def test_command_prints_both_shares(tmp_path: Path) -> None:
    """And refuses weights beside an anchor."""
    words = ["results", "estimate", str(_file(tmp_path)), "--channel", "q=crosswise 1/4 same=1"]
    words += ["--channel", "a=crosswise 1/5 same=1", "--anchor", "a=0"]
    printed = CliRunner().invoke(main, words).output
    assert "Careless answers: 16.7%" in printed
    assert "q: yes (Corrected" in printed
    refused = CliRunner().invoke(main, [*words, "--strata", "c"])
    assert refused.exit_code != 0
    assert "do not go together" in refused.output + str(refused.exception)
