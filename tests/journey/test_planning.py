"""``plan`` and ``simulate`` as a researcher uses them before asking anybody."""

import json
from pathlib import Path

import pytest

from tests.conftest import Running
from tests.journey.test_own_survey import invoke, sottovoce


def test_plan_gives_the_published_numbers(tmp_path: Path) -> None:
    """Coin flip, p = .1, 3 points: 3,586; Warner: 8,921; .2 against .3 with power .8: 1,468 in each group."""
    coin = sottovoce(tmp_path, "plan", "-p", "0.1", "--half-width", "0.03", "--json")
    warner = invoke(tmp_path, "plan", "-p", "0.1", "--half-width", "0.03", "--epsilon", "0.69314718056", "--json")
    groups = invoke(tmp_path, "plan", "-p", "0.2", "--against", "0.3", "--json")

    assert [json.loads(made.stdout)["reports"] for made in (coin, warner, groups)] == [3586, 8921, 1468]
    assert json.loads(groups.stdout)["groups"] == 2


def test_plan_takes_the_channel_of_a_question(tmp_path: Path) -> None:
    """The sample's coin flip, and in words; a share of no-sayers is part of the answer."""
    invoke(tmp_path, "new")
    made = invoke(tmp_path, "plan", "survey.yaml", "--question", "cheated", "-p", "0.1", "--half-width", "0.03")

    assert made.returncode == 0
    assert made.stdout.startswith("3,586 reports, epsilon 1.10, binary_rr (a 3/4, b 1/4), the coin flip\n")
    assert "If 10% protect themselves by answering no, 9.0% will be estimated" in made.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-p", "0.1"], "half-width or for a difference"),
        (["-p", "7", "--half-width", "0.1"], "prevalence must lie"),
        (["-p", "nan", "--half-width", "0.1"], "prevalence must lie"),
        (["-p", "0.1", "--half-width", "0.1", "--epsilon", "0"], "epsilon must lie between 0.01 and 10"),
        (["-p", "0.1", "--half-width", "0.1", "--epsilon", "nan"], "epsilon must lie between 0.01 and 10"),
        (["-p", "0.1", "--half-width", "0.1", "--epsilon", "inf"], "epsilon must lie between 0.01 and 10"),
        (["survey.yaml", "--question", "year", "--mean", "2", "--half-width", "0.1"], "estimates shares"),
        (["survey.yaml", "--question", "other", "-p", "0.1", "--half-width", "0.1"], "--question must be one of"),
    ],
)
def test_plan_refuses_the_impossible_in_words(tmp_path: Path, words: list[str], message: str) -> None:
    invoke(tmp_path, "new")
    refused = invoke(tmp_path, "plan", *words)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


def test_simulate_finds_its_own_truth_and_repeats_it(tmp_path: Path) -> None:
    invoke(tmp_path, "new")
    first, again, other = (
        invoke(tmp_path, "survey", "simulate", "survey.yaml", "--n", "50000", "--seed", seed, "--json").stdout
        for seed in ("7", "7", "8")
    )
    rows = json.loads(first)

    assert first == again != other
    assert len(rows) == 1 + 4 + 3
    assert all(abs(row["raw"] - row["truth"]) < 0.05 for row in rows)


def test_simulate_sends_real_reports(tmp_path: Path, running: Running) -> None:
    """Against a running aggregator every invented respondent is a respondent; another survey is refused."""
    (tmp_path / "served.json").write_bytes(running.survey.canonical)
    unasked = invoke(tmp_path, "survey", "simulate", "served.json", "--n", "40", "--url", running.link)
    assert (unasked.returncode, "not marked trial" in unasked.stderr, running.reports()) == (1, True, 0)
    sent = invoke(tmp_path, "survey", "simulate", "served.json", "--n", "40", "--url", running.link, "--yes")
    invoke(tmp_path, "new")
    refused = invoke(tmp_path, "survey", "simulate", "survey.yaml", "--n", "40", "--url", running.link, "--yes")

    assert sent.returncode == 0, sent.stderr
    assert running.reports() == 40
    assert refused.returncode == 1
    assert "not the one in the file" in refused.stderr
