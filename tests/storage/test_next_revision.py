"""Two who correct one survey at once: on both back ends there is one chain."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sottovoce.aggregator.surveys.lifecycle import next_revision
from sottovoce.shared.errors import RevisionConflict

from tests.surveys import survey


def test_of_two_corrections_at_once_one_is_the_next(store: Any) -> None:
    """Both saw the same newest revision; the second in storage is refused, whatever number it took."""
    store.publish(next_revision(store, survey()))
    one, other, skipping = (
        next_revision(store, survey(revision=number, title={"en": title}))
        for number, title in ((2, "One"), (2, "Other"), (3, "Skipping"))
    )
    store.publish(one)

    for late in (other, skipping):
        with pytest.raises(RevisionConflict, match="another revision was published first"):
            store.publish(late)
    assert [row.digest for row in store.revisions("exam")] == [one.replaces, one.digest]
    assert next_revision(store, survey(revision=3)).replaces == one.digest


def test_same_correction_published_many_times_at_once_is_one(store: Any) -> None:
    """Several nodes that start with one file."""
    store.publish(next_revision(store, survey()))
    with ThreadPoolExecutor(8) as pool:
        published = list(pool.map(lambda _: store.publish(next_revision(store, survey(revision=2))), range(16)))

    assert len({row.digest for row in published}) == 1
    assert [row.revision for row in store.revisions("exam")] == [1, 2]
