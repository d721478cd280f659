"""When a page is this release's: if every one of its files is."""

import pytest
from sottovoce.client import verify
from sottovoce.client.page import by_path, saved_page
from sottovoce.client.verify import PageVerification, verify_saved, verify_served
from sottovoce.shared.errors import TransportError

from tests.page_files import page_files
from tests.surveys import survey
from tests.unit.client.test_revisions import Shown

LINK = "https://a.example/s/exam"
ASSETS = page_files()
FILES = {path: asset.body for path, asset in by_path(ASSETS, "exam").items()}


@pytest.fixture(autouse=True)
def _assembled_once(monkeypatch):
    """The release's files are made from the sources, which takes a second, once."""
    monkeypatch.setattr(verify, "assemble", lambda: ASSETS)


class Served(Shown):
    """An aggregator that serves these files, and shows these revisions, newest first."""

    def __init__(self, files, revisions):
        super().__init__(revisions)
        self._files = files

    def fetch_file(self, path):
        return self._files.get(path)


FIRST = survey()
SECOND = survey(revision=2, replaces=FIRST.digest)
TAGGED = survey(revision=2, replaces=FIRST.digest, title={"en": "For one person"})


def verdict(links=(LINK,), revisions=(FIRST,), **changes) -> PageVerification:
    """What is said of this release's page with some of its files changed; None for one that is missing."""
    files = {path: body for path, body in {**FILES, **changes}.items() if body is not None}
    return verify_served(links, lambda _: Served(files, revisions))


def link_to(named) -> str:
    return f"{LINK}#d={named.digest[:32]}"


def test_links_to_revisions_that_everybody_is_shown_are_good():
    links = [link_to(FIRST), link_to(SECOND), LINK, f"{link_to(SECOND)}&w=1"]

    assert verdict(links, (SECOND, FIRST)).is_good
    assert verdict(links[:1], (SECOND, FIRST)).is_good


def test_link_to_a_version_of_its_own_is_told():
    """Whoever holds it was to be told apart by the digest of their report."""
    found = verdict([link_to(SECOND), link_to(TAGGED)], (SECOND, FIRST))

    assert found.is_same
    assert not found.is_good
    assert found.contradictions == [f"a link names the version {TAGGED.digest[:12]}, which is not shown to everybody"]
    assert found.as_dict()["contradictions"] == found.contradictions


def test_two_versions_of_one_number_or_predecessor_are_told():
    found = verdict([link_to(SECOND), link_to(TAGGED)], (SECOND, TAGGED, FIRST))
    a, b = SECOND.digest[:12], TAGGED.digest[:12]

    assert found.contradictions == [
        f"{a} and {b} are different versions, and both are called revision 2",
        f"{a} and {b} are different versions, and both replace {FIRST.digest[:12]}",
    ]


@pytest.mark.parametrize("other", ["https://b.example/s/exam", "https://a.example/s/health"])
def test_links_to_several_surveys_are_not_compared(other):
    """Nothing follows from what differs then."""
    with pytest.raises(TransportError, match="not to one survey"):
        verdict([LINK, other])


def test_page_is_the_releases_if_every_file_is():
    """One byte more, another script, or none: whichever file it is, that one is named and no other."""
    assert verdict().is_same
    assert {finding.path for finding in verdict().findings} == set(FILES)
    for path, body in FILES.items():
        for other in (body + b" ", b"", None):
            found = verdict(**{path: other})
            assert not found.is_same
            assert [finding.path for finding in found.findings if not finding.is_same] == [path]


def test_saved_page_that_was_changed_is_another_one():
    page = saved_page("https://a.example")

    assert verify_saved("page.html", page).is_same
    assert not verify_saved("page.html", page.replace(b"connect-src", b"connect-src *")).is_same
