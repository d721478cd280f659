"""When a page is this release's: if every one of its files is."""

import pytest
from sottovoce.client import verify
from sottovoce.client.page import assemble, path_of, saved_page
from sottovoce.client.verify import Verdict, verify_saved, verify_served

LINK = "https://a.example/s/exam"
ASSETS = assemble()
FILES = {path_of(name, "exam"): asset.body for name, asset in ASSETS.items()}


@pytest.fixture(autouse=True)
def _assembled_once(monkeypatch):
    """The release's files are made from the sources, which takes a second, once."""
    monkeypatch.setattr(verify, "assemble", lambda: ASSETS)


class Served:
    """An aggregator that serves these files."""

    def __init__(self, files):
        self._files = files

    def fetch_file(self, path):
        """A file, or None."""
        return self._files.get(path)


def verdict(**changes) -> Verdict:
    """What is said of this release's page with some of its files changed; None for one that is missing."""
    files = {path: body for path, body in {**FILES, **changes}.items() if body is not None}
    return verify_served(LINK, lambda _: Served(files))


def test_page_is_the_releases_if_every_file_is():
    """And the files are named one by one."""
    found = verdict()

    assert found.is_same
    assert {finding.path for finding in found.findings} == set(FILES)


def test_one_other_file_makes_it_another_page():
    """One byte more, another script, or none: whichever file it is, that one is named and no other."""
    for path, body in FILES.items():
        for other in (body + b" ", b"", None):
            found = verdict(**{path: other})
            assert not found.is_same
            assert [finding.path for finding in found.findings if not finding.is_same] == [path]


def test_saved_page_that_was_changed_is_another_one():
    """Also where only what the aggregator is asked for has changed."""
    page = saved_page("https://a.example")

    assert verify_saved("page.html", page).is_same
    assert not verify_saved("page.html", page.replace(b"connect-src", b"connect-src *")).is_same
