"""The pages of the documentation are whole: links lead somewhere, commands exist, and what is code runs."""

import re
import runpy
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.by_link.link_question import is_link, parse_link
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.single_question import parse_asked

from tests.unit.test_survey_reference import BASE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
RUN_ELSEWHERE = {
    "adding_a_mechanism.md": "tests/unit/test_completeness.py",
    "adding_a_question_type.md": "tests/unit/test_completeness.py",
    "analysing.md": "tests/unit/test_analysing_page.py",
    "for_respondents.md": "tests/journey/test_terminal_tutorial.py",
    "path_of_an_answer.md": "tests/journey/one_answer.py",
    "replications.md": "tests/unit/test_replications.py",
    "tutorial_terminal.md": "tests/journey/test_terminal_tutorial.py",
}
"""Pages whose Python needs an aggregator or files, or quotes our own; each with the test that sees to it."""

BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """The pages as the generator gets them, and how they were laid out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "making"))
        making = runpy.run_path(str(DOCS / "making" / "site.py"))
    folder = tmp_path_factory.mktemp("site")
    settings = yaml.safe_load(making["lay_out"](folder).read_text(encoding="utf-8"))
    return SimpleNamespace(pages=folder / "pages", settings=settings, place=making["site_place"])


def anchors(text: str) -> set[str]:
    """The names of a page's headings, as links have them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each).strip().lower().replace(" ", "-") for each in headings}


def test_links_of_the_site_lead_to_pages_that_it_has(site: SimpleNamespace) -> None:
    wrong, seen = [], 0
    for page in site.pages.rglob("*.md"):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)", prose):
            found = page.parent / target if target else page
            seen += 1
            if not found.is_file() or (anchor and anchor not in anchors(found.read_text(encoding="utf-8"))):
                wrong.append(f"{page.relative_to(site.pages)}: {target}#{anchor}")

    assert wrong == []
    assert seen > 100


def test_every_page_stands_in_the_list_of_the_site(site: SimpleNamespace) -> None:
    """Once, decisions excepted, which their own page lists; and every mechanism has its page of mathematics."""
    listed = re.findall(r"[\w/]+\.md", yaml.safe_dump(site.settings["nav"]))
    there = {path.relative_to(site.pages).as_posix() for path in site.pages.rglob("*.md")}

    assert sorted(listed) == sorted(path for path in there if not path.startswith("decisions/0"))
    assert {f"mathematics/{name}.md" for name in MECHANISMS} <= there


def test_every_page_has_a_next_page() -> None:
    """Its last line leads on; decisions have their list."""
    pages = [page for page in PAGES if not re.match(r"0\d{3}", page.name)]
    assert [
        page.name for page in pages if not re.search(r"\n\nNext: \[[^]]+\]\([^)]+\)\.\n$", page.read_text("utf-8"))
    ] == []


def test_link_to_a_module_leads_to_its_mathematics(site: SimpleNamespace) -> None:
    """In the repository it is the file; a file that the site has not is no link there."""
    module = "../../shared/sottovoce/shared/mechanisms/binary_rr.py"

    assert site.place(module, "how_to/own_coins.md") == "../mathematics/binary_rr.md"
    assert site.place("deploy/runbook.md", "project/SECURITY.md") == "deploy/runbook.md"
    assert site.place("../deploy/alerts.yml", "pages.md") == ""


def test_front_page_of_the_site_is_the_readme(site: SimpleNamespace) -> None:
    front = (site.pages / "README.md").read_text(encoding="utf-8")

    assert front.startswith("# Sottovoce\n")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", front)
    assert len(pictures) == 5
    assert all((site.pages / picture).is_file() for picture in pictures)
    assert "[All pages](pages.md)" in front


def test_made_pages_say_what_the_program_says(site: SimpleNamespace) -> None:
    """Each of its parts, and nothing of Markdown's own has eaten a formula."""
    told = {path.name: path.read_text(encoding="utf-8") for path in (site.pages / "reference").glob("*.md")}

    assert "## `sottovoce link create`" in told["command_line.md"]
    assert "## `POST /api/v1/surveys/{name}/reports`" in told["http.md"]
    assert "| GET | `/s/<name>` | Serve the form" in told["http.md"]
    assert "### `.crosstab(rows, columns, within=None" in told["python.md"]
    assert "| `SOTTOVOCE_PORT` | `8000` | port to listen on |" in told["settings.md"]
    coin = (site.pages / "mathematics" / "binary_rr.md").read_text(encoding="utf-8")
    assert "with 0 &lt; b &lt; a &lt; 1" in coin
    assert "lambda (1 - lambda) / (n (a - b)^2) for an i.i.d. sample." in coin


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name != "course" and blocks(page, "python")],
    ids=lambda page: page.name,
)
def test_python_of_a_page_runs(page: Path) -> None:
    """From top to bottom, and its assertions hold; or a test of its own, which names the page, runs it."""
    elsewhere = RUN_ELSEWHERE.get(page.name)
    if elsewhere is None:
        exec("\n".join(blocks(page, "python")), {})  # noqa: S102 - our own page
    else:
        assert page.stem in (ROOT / elsewhere).read_text(encoding="utf-8")


def test_survey_parts_of_every_how_to_are_good() -> None:
    base = parse_yaml(BASE.encode())
    assert isinstance(base, dict)
    parts = [(page.name, block) for page in (DOCS / "how_to").glob("*.md") for block in blocks(page, "yaml")]
    assert parts
    for page, block in parts:
        part = parse_yaml(block.encode())
        assert isinstance(part, dict), page
        assert parse_survey({**base, **part}).questions, page


def test_questions_of_pages_are_good() -> None:
    found = [block for page in PAGES for block in re.findall(r"(?:^    .*\n)+", page.read_text("utf-8"), re.MULTILINE)]
    asked = [parse_yaml(textwrap.dedent(block).encode()) for block in found if block.startswith("    type:")]
    assert len(asked) > 1
    for each in asked:
        assert (parse_link if is_link(each) else parse_asked)(each).epsilon


def test_newest_part_of_the_changelog_can_be_read() -> None:
    """At most 80 lines of at most 120 characters, what changes for each reader first."""
    newest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1].strip().splitlines()

    assert newest[2] == "**What changes for you**"
    assert len(newest) <= 80
    assert [line for line in newest if len(line) > 120] == []
