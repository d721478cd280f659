"""The first page: short enough to read, and everything on it is computed or run."""

import json
import math
import re
from contextlib import chdir
from fractions import Fraction
from pathlib import Path

import pytest
import requests
from sottovoce.aggregator.estimators.support import estimate_share
from sottovoce.aggregator.planning.question_channels import ShareChannel
from sottovoce.aggregator.planning.sample_size import Goal, plan
from sottovoce.client import MemoryLedger, Respondent

from tests.journey.test_own_survey import invoke, serving, sottovoce
from tests.surveys import survey
from tests.unit.shared.test_schema import validator

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COIN_FLIP = ShareChannel(0.75, 0.25)


def commands() -> list[list[str]]:
    """Words of the indented calls of the program, in order."""
    return [line.split() for line in re.findall(r"^    sottovoce (.*?)(?:\s+#.*)?$", README, re.MULTILINE)]


def test_page_has_at_most_700_words() -> None:
    """As an editor counts them."""
    assert len(README.split()) <= 700


def test_numbers_of_people_are_those_of_the_plan() -> None:
    """Each row, and the row that the command below the table prints."""
    rows = re.findall(r"^\| (\d+) % \| ± (\d) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|$", README, re.MULTILINE)
    assert len(rows) == 4
    for share, margin, openly, coin, times in rows:
        made = plan(COIN_FLIP, Goal(int(share) / 100, int(margin) / 100))
        assert (openly, coin) == (f"{made.direct:,}", f"{made.reports:,}")
        assert float(times) == pytest.approx(made.ratio, abs=0.05)
    inline = re.search(r"`sottovoce (plan [^`]+)`", README)
    assert inline
    assert "3,586 reports" in invoke(ROOT, *inline[1].split()).stdout


def test_idea_is_arithmetic_that_holds() -> None:
    yes = estimate_share("yes", 30, 100, Fraction(3, 4), Fraction(1, 4))

    assert pytest.approx(0.25) == (0.1 * 0.75) / (0.1 * 0.75 + 0.9 * 0.25)
    assert (yes.raw, yes.low) == (pytest.approx(0.1), 0)
    assert f"0 to {100 * yes.high:.1f} %" in README
    assert f"ln 3 ({math.log(3):.4f}..." in README
    assert f"up to {100 * yes.poisoning:.1f} points" in README
    assert f"({survey().release_batch} by default)" in README


def test_commands_take_a_survey_from_a_file_to_its_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each as the page writes it, with 30 respondents between them; then the page's Python reads the export."""
    new, lint, serve, close, results = commands()

    assert invoke(tmp_path, *new).returncode == 0
    linted = sottovoce(tmp_path, *lint)
    assert (linted.returncode, "epsilon 2.20" in linted.stdout) == (0, True)
    with serving(tmp_path, *serve[1:]) as (_, link, token):
        for person in range(30):
            answers = {"cheated": "yes", "reason": "time", "year": "first" if person < 25 else "second"}
            Respondent.connect(link, MemoryLedger()).answer(answers)
        shown = requests.get(
            f"{link.split('/s/')[0]}/api/v1/surveys/exam/estimates",
            headers={"Authorization": f"Bearer {token}"},
            timeout=15,
        ).json()
        assert (shown["received"], shown["reports"]) == (25, 25)
    assert invoke(tmp_path, *close).returncode == 0
    export = sottovoce(tmp_path, *results)
    assert export.returncode == 0
    worked = r"cheated: [\d.]+% of the reports \(n = 30\) said yes; 2 × [\d.]+% − 1/2 = .*95% interval"
    assert re.match(worked, " ".join(export.stderr.split()))
    exported = json.loads((tmp_path / "results.json").read_text())
    validator("export").validate(exported)
    assert exported["questions"][2]["tally"] == {"0": 25, "1": 5}

    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    with chdir(tmp_path):
        exec(code, {})  # noqa: S102 - our own page
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "30 reports"
    assert printed[1].startswith("cheated yes ")
