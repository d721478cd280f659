"""The page of all public Python names lists them all; the README's line for analysts leads to commands that run."""

import re
import shlex
from pathlib import Path

import pytest
import sottovoce.aggregator
import sottovoce.client
import sottovoce.curator

from tests.commands import done, run

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how_to" / "analyze_a_file.md"


def test_page_lists_every_public_name_with_its_members() -> None:
    """A name that is added needs its line."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for package in (sottovoce.aggregator, sottovoce.client, sottovoce.curator):
        for name in package.__all__:
            assert f"| `{package.__name__}.{name}` |" in page
            found = getattr(package, name)
            line = next(line for line in page.splitlines() if f"`{package.__name__}.{name}`" in line)
            if isinstance(found, type) and package is not sottovoce.client:
                members = {each for each in vars(found) if not each.startswith("_")} - {
                    "reports",
                    "columns",
                    "data_set",
                }
                assert {each for each in members if f"`{each}`" not in line} == set()


def test_line_for_analysts_leads_to_commands_that_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(docs/how_to/analyze_a_file.md)" in next(each for each in readme.splitlines() if "randomized data" in each)
    text = HOW_TO.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    people = [
        f"{('no', 'yes')[n % 3 == 0]},{('first', 'last')[n % 2]},{20 + n % 30},{n % 3}"
        f",{(0, 1, 1, 2)[n // 2 % 4] + (n % 10 in {7, 9})},{n % 2},r{n % 2},s{n % 10},{1 + n % 3}"
        f",{('different', 'same')[n % 3 > 0]},{('different', 'same')[n % 5 > 0]}"
        for n in range(300)
    ]
    header = "cheated,year,age,item,items,half,region,school,w,crossed,anchor"
    Path("answers.csv").write_text("\n".join([header, *people]))
    [written] = re.findall(r"\n((?:    .+\n)+)", text)
    Path("channels.yaml").write_text(
        written.replace("\n    ", "\n").removeprefix("    ").replace("never, once, often", '"0", "1", "2"')
    )
    commands = re.findall(r"^sottovoce (.+)$", text, re.MULTILINE)

    assert len(commands) == 13
    for command in commands:
        done(run(*shlex.split(command)))
