"""``privacy`` as an ethics board asks for it."""

import json
from pathlib import Path

import pytest

from tests.journey.test_own_survey import invoke


def test_privacy_prints_the_account(tmp_path: Path) -> None:
    invoke(tmp_path, "new")
    text = invoke(tmp_path, "survey", "privacy", "survey.yaml")
    both = invoke(tmp_path, "survey", "privacy", "survey.yaml", "--json", "--html", "account.html", "--people", "2")

    assert text.returncode == both.returncode == 0
    assert "a household of 4: epsilon 8.79" in text.stdout
    assert json.loads(both.stdout)["household"]["people"] == 2
    assert (tmp_path / "account.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.yaml"], 'the file "missing.yaml" was not found'),
        (["broken.yaml"], "this is not valid YAML"),
        (["dear.yaml"], "epsilon must lie between 0.01 and 10"),
        (["survey.yaml", "--people", "0"], "number of people must be a whole number from 1 to 1000"),
        (["survey.yaml", "--waves", "0"], "number of waves must be a whole number from 1 to 1000"),
        (["survey.yaml", "--delta", "nan"], "delta must lie between 0 and 1"),
        (["survey.yaml", "--delta", "1"], "delta must lie between 0 and 1"),
        (["survey.yaml", "--respondents", "-5"], "number of respondents must be a whole number"),
        (["survey.yaml", "--html", "no/such/folder.html"], 'the folder "no/such" does not exist'),
    ],
)
def test_privacy_refuses_the_impossible_in_words(tmp_path: Path, words: list[str], message: str) -> None:
    invoke(tmp_path, "new")
    sample = (tmp_path / "survey.yaml").read_text(encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("questions: [", encoding="utf-8")
    dear = sample.replace("{name: coin_flip}", '{epsilon: "11"}')
    (tmp_path / "dear.yaml").write_text(dear, encoding="utf-8")
    run = invoke(tmp_path, "survey", "privacy", *words)

    assert run.returncode == 1
    assert message in run.stderr
    assert run.stdout == ""
