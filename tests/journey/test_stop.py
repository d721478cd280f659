"""TERM and Ctrl-C, whatever the connections are doing: only our own words, and nothing acknowledged is lost."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import requests
from sottovoce.cli.process import free_port, wait_until_ready

from tests.conftest import processes
from tests.journey.test_database_down import until
from tests.journey.test_hostile_http import JSON, good
from tests.journey.test_kill import PATH, Senders, Server, check, kill_worker, served

OWN = ("Sign in, once", "Survey ", "Data: ", "Dashboard: ", "Any host name is accepted")
GONE = "The process that serves ended unexpectedly"
HEAD = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(good())}\r\n\r\n"
WHOLE = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
STATES = {"idle": ("", ""), "half a head": ("", HEAD[:40]), "half a body": ("", HEAD + "{"),
          "kept": (WHOLE, ""), "kept, then half a body": (WHOLE, HEAD + "{")}  # fmt: skip
"""What was asked and answered on a connection, and what was begun on it; a proxy keeps many of them all."""


def hold(server: Server, stack: ExitStack) -> list[socket.socket]:
    """Three connections in each state."""
    held = []
    for asked, begun in [*STATES.values()] * 3:
        port = int(server.url.rpartition(":")[2])
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        if asked:
            connection.sendall(asked.encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(begun.encode())
        held.append(connection)
    return held


def stop_under_load(folder: Path, count: int) -> None:
    """Stop the server under load and start it again: by TERM, Ctrl-C and its terminal's end, which its group gets."""
    everything = Senders("", 0)
    # Under nohup a server ignores it, and goes on.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with served(folder / "data") as server:
        for number in range(count):
            if number:
                server.start()
            with ExitStack() as stack:
                hold(server, stack)
                senders = Senders(server.url)
                senders.wait(15)
                stop = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP][number % 3]
                (os.killpg if number % 3 else os.kill)(server.process.pid, stop)
                code = server.process.wait(timeout=20)
                senders.end()
            assert code == 0
            everything.acknowledged |= senders.acknowledged
            everything.sent |= senders.sent
        check(server, everything)

    log = (folder / "data.log").read_text().splitlines()
    assert [line for line in log if not line.startswith(OWN)] == []


def test_three_stops_under_load_are_told_in_our_own_words_only(tmp_path: Path) -> None:
    stop_under_load(tmp_path, 3)


@pytest.mark.slow
def test_ten_stops_under_load_are_told_in_our_own_words_only(tmp_path: Path) -> None:
    stop_under_load(tmp_path, 10)


def test_half_a_body_is_refused_at_once_when_the_server_stops(tmp_path: Path) -> None:
    with served(tmp_path / "data") as server, ExitStack() as stack:
        connections = hold(server, stack)
        # So that the server has read what was begun.
        requests.post(server.url + PATH, data=good(), headers=JSON, timeout=30)
        server.process.send_signal(signal.SIGTERM)
        replies = [connections[place].recv(65536) for place in (2, 4)]

    for reply in replies:
        assert reply.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 5" in reply.lower()


def test_node_says_that_it_will_end_and_serves_on_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DRAIN_SECONDS", "4")
    with served(tmp_path / "data") as server:
        senders = Senders(server.url, 2, pause=0.05)
        senders.wait(5)
        server.process.send_signal(signal.SIGTERM)
        until(server, 503)
        server.process.send_signal(signal.SIGTERM)
        said = requests.get(f"{server.url}/readyz", timeout=5).json()["detail"]
        alive = requests.get(f"{server.url}/healthz", timeout=5).status_code
        body = good()
        senders.sent[json.loads(body)["report_id"]] = body
        taken = requests.post(server.url + PATH, data=body, headers=JSON, timeout=5).status_code
        assert server.process.wait(timeout=20) == 0
        senders.end()
        check(server, senders)

    assert (said, alive, taken) == ("this node is about to end", 200, 200)


@contextmanager
def ctrl_c_is_heard() -> Iterator[None]:
    """A shell lets what it runs in the background ignore it, and so would all that is started from there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def stop_while_it_starts(folder: Path, draws: random.Random, count: int) -> None:
    """Start it ``count`` times, and tell it, or its group, to end at a moment before it is ready: by TERM or INT."""
    command = [sys.executable, "-m", "sottovoce.cli", "serve", "--data", str(folder), "--port"]
    began = time.monotonic()
    with served(folder):  # leaves a database, and tells how long a start takes
        whole = time.monotonic() - began
    for _ in range(count):
        process = subprocess.Popen([*command, str(free_port())], stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)  # fmt: skip
        time.sleep(whole * draws.random())
        number = draws.choice([signal.SIGTERM, signal.SIGINT])
        draws.choice([os.kill, os.killpg])(process.pid, number)
        try:
            said = process.communicate(timeout=20)[1]
            # Ctrl-C before the first line of its own is told by Python, and by click; and a worker to whom somebody
            # else says TERM too may be gone before its parent has noted its own.
            assert number == signal.SIGINT or all(line.startswith((*OWN, GONE)) for line in said.splitlines()), said
            assert process.returncode in {0, 1, -number}
            with pytest.raises(ProcessLookupError):
                os.killpg(process.pid, 0)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_stop_while_it_starts_is_obeyed(tmp_path: Path) -> None:
    """Whatever it is doing just then: no process is left over, and no word of a failure is said."""
    with ctrl_c_is_heard():
        stop_while_it_starts(tmp_path / "data", random.Random(17), 2)  # noqa: S311 - moments only


@pytest.mark.slow
def test_stop_at_sixty_moments_of_a_start_is_obeyed(tmp_path: Path) -> None:
    with ctrl_c_is_heard():
        stop_while_it_starts(tmp_path / "data", random.Random(170), 60)  # noqa: S311 - moments only


def test_worker_ends_when_whoever_looks_after_it_was_killed(tmp_path: Path) -> None:
    """It would keep the address, and the next start would be refused."""
    with served(tmp_path / "data") as server:
        server.process.kill()
        server.process.wait()
        deadline = time.monotonic() + 20
        while processes(server.url) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert processes(server.url) == []


def test_file_that_a_worker_was_writing_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reports would outlive their deletion: killed alone, with its parent, or ended. What others write stays."""
    place = tmp_path / "temporary"
    (place / "other").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(place))

    def begin_file() -> Path:
        (own,) = place.glob("sottovoce-*")
        (own / "reports.csv").write_text("1\n")
        return own

    with served(tmp_path / "data") as server:
        left = [begin_file()]
        kill_worker(server)
        left.append(begin_file())
        server.kill_group()
        port = int(server.url.rpartition(":")[2])
        monkeypatch.setattr("tests.journey.test_kill.free_port", lambda: port)
        server.start()
        left.append(begin_file())
        assert server.end() == 0

    assert len(set(left)) == 3
    assert [each.name for each in place.iterdir()] == ["other"]


def test_worker_starts_where_no_temporary_folder_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that became full: reports need none."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    with served(tmp_path / "data") as server:
        shutil.rmtree(place)
        place.write_text("no folder")
        kill_worker(server)
        assert requests.get(f"{server.url}/healthz", timeout=20).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_demonstration_that_is_told_to_end_leaves_no_aggregator(tmp_path: Path, number: signal.Signals) -> None:
    """Nor its folder; TERM is told to it alone, and Ctrl-C to its aggregator as well."""
    port = free_port()
    with ctrl_c_is_heard():
        process = subprocess.Popen([sys.executable, "-m", "sottovoce.cli", "demo", "--port", str(port)],
                                   stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)},
                                   start_new_session=True, text=True)  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    wait_until_ready(url, process, 120)
    assert list(tmp_path.iterdir())
    (os.kill if number == signal.SIGTERM else os.killpg)(process.pid, number)
    said = process.communicate(timeout=60)[1]
    assert (process.returncode, said.splitlines()[-1:], "Error" in said) == (1, ["Aborted!"], False)
    assert processes(url) == []
    assert list(tmp_path.iterdir()) == []
