"""Builds the site of documentation without a network: ``python docs/making/site.py``, or ``make docs``.

First all pages, those that are written and those that are made, are laid out in one folder, with links as the site has
them; then the generator reads that folder and nothing else.
"""

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from made_pages import OUTSIDE, ROOT, made_pages

DOCS = ROOT / "docs"
CONFIGURATION = Path(__file__).with_name("mkdocs.yml")
OURS = (Path(__file__).with_name("site.css"), Path(__file__).with_name("site.js"))
"""What the theme is told of our own."""

PICTURES = frozenset({".png", ".svg", ".html"})

FRONT, ALL_PAGES = "README.md", "pages.md"
"""Places in the site of the repository's first page, and of the list of all pages."""

SCREENSHOTS = "tests/browser/screenshots/"
"""Pictures of the first page; the site has them beside the others."""

MODULE = re.compile(r"^shared/sottovoce/shared/mechanisms/(\w+)\.py$")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
FENCED = re.compile(r"(```.*?```)", re.DOTALL)


def lay_out(folder: Path) -> Path:
    """Write every page, picture and the generator's configuration into an empty folder; gives the configuration."""
    pages = folder / "pages"
    written = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    written |= {ALL_PAGES: written["README.md"], FRONT: (ROOT / "README.md").read_text(encoding="utf-8")}
    made = made_pages()
    for place, text in (written | made).items():
        _write(pages / place, in_site(text, place))
    for picture in (path for path in DOCS.rglob("*") if path.suffix in PICTURES):
        place = pages / picture.relative_to(DOCS)
        place.parent.mkdir(exist_ok=True)
        shutil.copy(picture, place)
    for file in OURS:
        shutil.copy(file, pages / file.name)
    for name in re.findall(rf"\({SCREENSHOTS}([^)]+)\)", written[FRONT]):
        shutil.copy(ROOT / SCREENSHOTS / name, pages / "pictures" / name)
    return _configuration(folder, sorted(place for place in made if place.startswith("mathematics/")))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _configuration(folder: Path, mathematics: list[str]) -> Path:
    """The configuration, with a page for each mechanism that there is."""
    settings = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))
    for part in settings["nav"]:
        if isinstance(part, dict) and "Mathematics" in part:
            part["Mathematics"] = mathematics
    file = folder / CONFIGURATION.name
    file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return file


def in_site(text: str, place: str) -> str:
    """A page's Markdown with links as the site has them; code stays as it is."""
    parts = FENCED.split(text)
    return "".join(part if part.startswith("```") else _linked(part, place) for part in parts)


def _linked(text: str, place: str) -> str:
    def lead(link: re.Match[str]) -> str:
        picture, shown, target, anchor = link.groups()
        if not target or ":" in target or (picture and place != FRONT):
            return link[0]
        found = site_place(target, place)
        if picture:
            return f"![{shown}]({found})"
        return f"[{shown}]({found}{anchor or ''})" if found else shown

    return LINK.sub(lead, text)


def site_place(target: str, place: str) -> str:
    """Where a link of the repository leads in the site; "" if the site has nothing there.

    Args:
        target: the file that the link names, relative to its page's own file in the repository.
        place: of that page in the site.
    """
    own = {FRONT: FRONT, ALL_PAGES: "docs/README.md"}.get(place) or (
        place.removeprefix("project/") if place.startswith("project/") else f"docs/{place}"
    )
    found = _in_site(posixpath.normpath(posixpath.join(posixpath.dirname(own), target)))
    return posixpath.relpath(found, posixpath.dirname(place) or ".") if found else ""


def _in_site(file: str) -> str:
    module = MODULE.match(file)
    if module:
        return f"mathematics/{module[1]}.md"
    if file in OUTSIDE:
        return f"project/{file}"
    if file in {"docs/README.md", "docs"}:
        return ALL_PAGES
    if file == FRONT:
        return FRONT
    if file.startswith(SCREENSHOTS):
        return f"pictures/{posixpath.basename(file)}"
    return file.removeprefix("docs/").replace(".ipynb", ".md") if file.startswith("docs/") else ""


def build(out: Path) -> None:
    """Build the site into a folder, in the place of what was there.

    Raises:
        SystemExit: a link leads nowhere, or a page stands in no list; its message is the generator's.
    """
    with tempfile.TemporaryDirectory() as name:
        configuration = lay_out(Path(name))
        command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(configuration)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(Path(name) / "site", out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the site of documentation.")
    parser.add_argument("--out", type=Path, default=ROOT / "site")
    build(parser.parse_args().out)
