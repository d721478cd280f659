"""What takes long has a thread of its own, where somebody serves."""

import threading

from sottovoce.aggregator.storage.postgres.background_thread import BackgroundThread, at_once
from sottovoce.shared.errors import StorageError


def test_work_is_done_in_its_turn_and_once_however_often_it_is_wanted() -> None:
    """Also after one that the database could not do."""
    aside, begun, go_on, ended = BackgroundThread(), threading.Event(), threading.Event(), threading.Event()
    done: list[str] = []

    def first() -> None:
        begun.set()
        go_on.wait(20)
        raise StorageError("not now")

    def second() -> None:
        done.append("second")

    aside.want(first)
    assert begun.wait(20)
    for work in (second, second, ended.set, second):
        aside.want(work)
    assert done == []
    go_on.set()

    assert ended.wait(20)
    assert done == ["second"]


def test_who_waits_for_it_has_it_at_once() -> None:
    """In the terminal, and in tests."""
    done: list[int] = []
    at_once(lambda: done.append(1))

    assert done == [1]
