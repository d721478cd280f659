"""Drafts in every back end: each save is kept, and none goes over another unseen."""

from concurrent.futures import ThreadPoolExecutor

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.drafts import MAX_VERSIONS, DraftVersion, PlannedSize

from tests.surveys import survey


def test_a_draft_is_kept_version_by_version(store: Storage) -> None:
    drafts = store.drafts
    assert drafts.add("exam", b"{}")
    assert drafts.save("exam", 1, b'{"a":1}') == 2
    assert drafts.draft("exam") == DraftVersion("exam", 2, b'{"a":1}')
    assert drafts.draft("exam", 1) == DraftVersion("exam", 1, b"{}")
    assert drafts.versions("exam") == [2, 1]
    assert drafts.draft("exam", 3) is None
    assert drafts.draft("other") is None


def test_a_name_is_given_once(store: Storage) -> None:
    assert store.drafts.add("exam", b"first")
    assert not store.drafts.add("exam", b"second")
    assert store.drafts.draft("exam") == DraftVersion("exam", 1, b"first")


def test_a_save_over_an_older_version_is_refused(store: Storage) -> None:
    """Two people began with version 1; the second to save learns it, and the first one's text stands."""
    store.drafts.add("exam", b"{}")
    assert store.drafts.save("exam", 1, b"first") == 2
    assert store.drafts.save("exam", 1, b"second") is None
    assert store.drafts.save("other", 1, b"nobody's") is None
    assert store.drafts.draft("exam") == DraftVersion("exam", 2, b"first")


def test_of_many_saves_at_once_one_is_kept(store: Storage) -> None:
    store.drafts.add("exam", b"{}")
    with ThreadPoolExecutor(8) as people:
        saved = list(people.map(lambda number: store.drafts.save("exam", 1, b"%d" % number), range(8)))
    assert sorted(saved, key=str) == [2, *[None] * 7]
    assert store.drafts.draft("exam") == DraftVersion("exam", 2, b"%d" % saved.index(2))


def test_the_last_fifty_versions_stay(store: Storage) -> None:
    store.drafts.add("exam", b"0")
    for version in range(1, MAX_VERSIONS + 5):
        store.drafts.save("exam", version, b"%d" % version)
    assert store.drafts.versions("exam") == list(range(MAX_VERSIONS + 5, 5, -1))


def test_a_draft_is_renamed_with_its_versions(store: Storage) -> None:
    store.drafts.add("exam", b"{}")
    store.drafts.save("exam", 1, b"more")
    store.drafts.add("taken", b"")
    assert not store.drafts.rename("exam", "taken")
    assert store.drafts.rename("exam", "test")
    assert not store.drafts.rename("exam", "nothing")
    assert [draft.name for draft in store.drafts.drafts()] == ["taken", "test"]
    assert store.drafts.versions("test") == [2, 1]


def test_a_deleted_draft_leaves_nothing(store: Storage) -> None:
    store.drafts.add("exam", b"{}")
    store.drafts.save("exam", 1, b"more")
    store.drafts.add("exam2", b"stays")
    store.drafts.delete("exam")
    assert store.drafts.versions("exam") == []
    assert store.drafts.drafts() == [DraftVersion("exam2", 1, b"stays")]


def test_a_published_draft_leaves_its_plan(store: Storage) -> None:
    """A correction's takes its place; what was never said is told as that; deleting the survey takes it out."""
    store.drafts.add("exam", b"{}")
    store.drafts.finish("exam", PlannedSize(200))
    assert store.drafts.versions("exam") == []
    assert store.drafts.plan("exam") == PlannedSize(200, None)
    store.drafts.finish("exam", PlannedSize(300, 400))
    assert store.drafts.plans() == {"exam": PlannedSize(300, 400)}
    assert store.drafts.plan("other") == PlannedSize()

    store.publish(survey(name="exam"))
    store.delete_survey("exam")
    assert store.drafts.plans() == {}
