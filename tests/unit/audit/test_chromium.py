"""A page that never comes back is given up; one that works is waited for."""

import threading
from contextlib import suppress

import pytest
from sottovoce.audit.served import chromium
from sottovoce.audit.served.chromium import limited, program
from sottovoce.shared.errors import TransportError


def test_limit_ends_what_does_not_end() -> None:
    ended = threading.Event()
    with limited(0.01, ended.set):
        assert ended.wait(30)


def test_limit_ends_with_the_work() -> None:
    """No timer is left behind, also where the work fails."""
    before, ended = set(threading.enumerate()), threading.Event()
    with suppress(TransportError), limited(60, ended.set):
        [timer] = set(threading.enumerate()) - before
        raise TransportError("the work failed")
    timer.join(30)

    assert not timer.is_alive()
    assert not ended.is_set()


def test_giving_up_ends_the_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    codes: list[int] = []
    monkeypatch.setattr("os._exit", codes.append)
    chromium.give_up()
    said = capsys.readouterr()

    assert codes == [1]
    assert said.out == ""
    assert "keeps the browser busy without end" in said.err


def test_named_browser_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/bin/sh")
    assert program() == "/bin/sh"
    monkeypatch.setenv("CHROMIUM", "/nowhere")
    with pytest.raises(TransportError, match="CHROMIUM names no program"):
        program()
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setenv("PATH", "/nowhere")
    assert program() is None
