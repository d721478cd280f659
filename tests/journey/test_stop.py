"""TERM and Ctrl-C, whatever the connections are doing: only our own words, and nothing acknowledged is lost."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import requests
from sottovoce.cli.process import free_port

from tests.journey.test_hostile_http import JSON, good
from tests.journey.test_kill import PATH, Senders, Server, check, served

OWN = ("Sign in, once", "Survey ", "Dashboard: ")
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


def test_ten_stops_under_load_are_told_in_our_own_words_only(tmp_path: Path) -> None:
    """Five by TERM, as supervisors do it, and five by Ctrl-C, which every process of the group gets."""
    everything = Senders("", 0)
    with served(tmp_path / "data") as server:
        for number in range(10):
            if number:
                server.start()
            with ExitStack() as stack:
                hold(server, stack)
                senders = Senders(server.url)
                senders.wait(15)
                stop = signal.SIGTERM if number % 2 else signal.SIGINT
                (server.process.send_signal if number % 2 else lambda s: os.killpg(server.process.pid, s))(stop)
                code = server.process.wait(timeout=20)
                senders.end()
            assert code == 0
            everything.acknowledged |= senders.acknowledged
            everything.sent |= senders.sent
        check(server, everything)

    log = (tmp_path / "data.log").read_text().splitlines()
    assert [line for line in log if not line.startswith(OWN)] == []


def test_half_a_body_is_refused_at_once_when_the_server_stops(tmp_path: Path) -> None:
    """With a reply that says when to come back, not with the end of its time."""
    with served(tmp_path / "data") as server, ExitStack() as stack:
        connections = hold(server, stack)
        # So that the server has read what was begun.
        requests.post(server.url + PATH, data=good(), headers=JSON, timeout=30)
        server.process.send_signal(signal.SIGTERM)
        replies = [connections[place].recv(65536) for place in (2, 4)]

    for reply in replies:
        assert reply.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 5" in reply.lower()


def test_stop_while_it_starts_is_obeyed(tmp_path: Path) -> None:
    """Whatever it is doing just then, a worker that loads its modules too."""
    command = [sys.executable, "-m", "sottovoce.cli", "serve", "--data", str(tmp_path), "--port", str(free_port())]
    for number in range(4):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("Dashboard"):
                break
        time.sleep(0.3 * number)
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=20)[1]
        assert process.returncode in {0, -signal.SIGTERM}
        assert rest == ""
