"""A page that never comes back is given up; one that works is waited for."""

import threading

import pytest
from sottovoce.audit.served import chromium
from sottovoce.audit.served.chromium import Watchdog, program
from sottovoce.shared.errors import TransportError


def test_watch_ends_what_is_silent() -> None:
    """Once, and without anybody's help."""
    ended = threading.Event()
    with Watchdog(0.01, ended.set):
        assert ended.wait(30)


def test_watch_waits_for_what_works() -> None:
    """Every sign of life begins the time anew, and the end of the work ends it."""
    ended = threading.Event()
    with Watchdog(60, ended.set) as watch:
        timers = set()
        for _ in range(3):
            watch.heard()
            timers.add(watch._timer)
    assert len(timers) == 3
    assert all(timer is not None and timer.finished.is_set() for timer in timers)
    assert not ended.is_set()


def test_giving_up_ends_the_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With exit code 1, in words, and nothing on standard output."""
    codes: list[int] = []
    monkeypatch.setattr("os._exit", codes.append)
    chromium.give_up()
    said = capsys.readouterr()

    assert codes == [1]
    assert said.out == ""
    assert "keeps the browser busy without end" in said.err


def test_named_browser_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then those on the path; a wrong name is told, not passed over."""
    monkeypatch.setenv("CHROMIUM", "/bin/sh")
    assert program() == "/bin/sh"
    monkeypatch.setenv("CHROMIUM", "/nowhere")
    with pytest.raises(TransportError, match="CHROMIUM names no program"):
        program()
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setenv("PATH", "/nowhere")
    assert program() is None
