"""An aggregator as a process: its port, its orders to end, and what ``serve`` says of its settings."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
from granian.constants import Interfaces
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.cli.process import capture_signals, end, free_port, wait_until_ready
from sottovoce.cli.serve import notes
from sottovoce.cli.server import Supervisor
from sottovoce.shared.errors import StorageError

from tests.commands import run
from tests.conftest import Running
from tests.surveys import document, survey


def test_free_port_is_none_that_systems_give_away() -> None:
    """Below those of outgoing connections, of which one could be taken before it is bound."""
    assert {20_000 <= free_port() < 32_000 for _ in range(20)} == {True}


def test_nobody_waits_for_a_process_that_has_ended() -> None:
    """It is said at once, not after the time that a start may take."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(timeout=60)

    with pytest.raises(StorageError, match="did not start"):
        wait_until_ready(f"http://127.0.0.1:{free_port()}", ended, seconds=3600)


def test_process_that_does_not_end_when_told_is_killed() -> None:
    """Nothing that was started is left over, whatever it does."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    process.stdout.readline()
    with process.stdout:
        assert end(process, seconds=0.1) == -signal.SIGKILL


def check(port: int, *words: str, host: str = "127.0.0.1") -> tuple[int, str]:
    """What the verb says, whatever proxy the environment names."""
    settings = {"SOTTOVOCE_HOST": host, "SOTTOVOCE_PORT": str(port), "http_proxy": "http://127.0.0.1:9"}
    ended = run("healthcheck", *words, env=settings)
    return ended.exit_code, ended.output


@pytest.mark.external
def test_node_that_answers_is_healthy(running: Running) -> None:
    """And ready, with its database there."""
    port = urlsplit(running.url).port or 0
    for host in ("127.0.0.1", "0.0.0.0"):  # noqa: S104 - nobody listens there
        assert check(port, host=host) == (0, "")
        assert check(port, "--ready", host=host) == (0, "")


def test_nobody_is_no_node() -> None:
    """A port at which nobody listens, in words."""
    code, said = check(free_port())

    assert (code, "no node answers" in said, "Traceback" in said) == (1, True, False)


LAST_STEPS = """
import os, signal
from sottovoce.cli.process import capture_signals

class Connection:
    def __del__(self):
        os.kill(os.getpid(), signal.NUMBER)

signal.signal(signal.SIGINT, signal.HANDLER)
with capture_signals() as told:
    Connection()
    print(told.wait(20))
"""

TWICE = """
import os, signal, time
from sottovoce.cli.process import capture_signals
signal.signal(signal.SIGINT, signal.default_int_handler)
with capture_signals() as told:
    os.kill(os.getpid(), signal.SIGINT)
    told.wait()
    print("noted", flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
"""


def ended(script: str) -> tuple[int, str, str]:
    """How a process of its own ends, and what it said."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("handler", ["default_int_handler", "SIG_IGN"])
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_order_at_the_end_of_an_object_is_noted(number: str, handler: str) -> None:
    """An exception there is printed and forgotten, and the order with it.

    In the background too, where a shell has Ctrl-C ignored: the server that was started hears it, and who started it
    would stay alone.
    """
    script = LAST_STEPS.replace("NUMBER", number).replace("HANDLER", handler)
    assert ended(script) == (0, "True\n", "")


def test_ctrl_c_after_term_is_not_the_second() -> None:
    """What is put away then is put away whole."""
    script = LAST_STEPS.replace("NUMBER", "SIGTERM").replace("HANDLER", "default_int_handler")
    after = "    os.kill(os.getpid(), signal.SIGINT)\n    print('put away')\n"
    assert ended(script + after) == (0, "True\nput away\n", "")


def test_second_ctrl_c_ends_it_wherever_it_is() -> None:
    """Whoever says it twice does not want to wait."""
    code, out, err = ended(TWICE)
    assert (code, out, err.strip().endswith("KeyboardInterrupt")) == (-signal.SIGINT, "noted\n", True)


def fail_once_told() -> None:
    """The order, and then a failure."""
    with capture_signals() as told:
        os.kill(os.getpid(), signal.SIGTERM)
        assert told.wait(20)
        raise StorageError


def test_failure_after_the_order_is_no_failure() -> None:
    """What was started heard the same Ctrl-C; before any order, a failure is told as one."""
    with pytest.raises(StorageError), capture_signals():
        raise StorageError
    with pytest.raises(click.Abort):
        fail_once_told()


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with capture_signals():
        assert signal.getsignal(signal.SIGTERM) != before[0]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


FORK = """
import os, signal, time
from sottovoce.cli.server import hear_orders_in_children
noted = lambda *_: None
signal.signal(signal.SIGTERM, noted), signal.signal(signal.SIGINT, noted)
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.NUMBER))
hear_orders_in_children()
child = os.fork()
if not child:
    time.sleep(0.3)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
"""


def fork(number: signal.Signals) -> str:
    """How a child ends that gets this signal as the first thing after its fork, and what the parent holds back."""
    script = FORK.replace("NUMBER", number.name)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_child_that_is_told_to_end_as_the_first_thing_ends() -> None:
    """The order waits for the moment at which the child has put its parent's handlers off."""
    assert fork(signal.SIGTERM) == f"{-signal.SIGTERM} 0"


def test_child_leaves_ctrl_c_to_its_parent() -> None:
    """Who passes it on; else the parent would take the child's end for a failure."""
    assert fork(signal.SIGINT) == "7 0"


def test_order_to_end_is_noted_while_the_main_loop_is_busy() -> None:
    """Held up by nothing, though the main thread holds the event's lock; and heard, though the event is cleared."""
    server = Supervisor("none", interface=Interfaces.RSGI)
    interrupt = server.main_loop_interrupt
    with interrupt._cond:
        server.signal_handler_interrupt(signal.SIGTERM, None)
        assert not interrupt.is_set()
    assert interrupt.wait(timeout=20)
    interrupt.clear()
    assert interrupt.wait(timeout=20)
    assert server.interrupt_signal


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, ["SOTTOVOCE_PUBLIC_URL"]),
        ({"public_url": "https://survey.example.org"}, []),
        ({"trusted_hosts": "survey.example.org"}, []),
    ],
)
def test_operator_is_told_that_any_host_name_is_accepted(settings: dict[str, str], told: list[str]) -> None:
    """With what ends it; nothing where a name is known."""
    found = list(notes(Settings(**settings)))

    assert len(found) == len(told)
    assert all(word in line for word, line in zip(told, found, strict=True))


def test_setting_for_frames_is_ignored_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the setting and what to do instead."""
    monkeypatch.setenv("SOTTOVOCE_EMBED_ORIGINS", "https://a.example")
    (line,) = notes(Settings(public_url="https://survey.example.org"))

    assert line.startswith("SOTTOVOCE_EMBED_ORIGINS is ignored")
    assert "Link to it" in line


def test_file_whose_survey_was_deleted_is_a_warning_and_the_others_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit file names it for years: the node starts again, and says why this one is not there."""
    file = tmp_path / "exam.yaml"
    file.write_text(json.dumps(document()), encoding="utf-8")
    storage = open_url("", tmp_path)
    for name in ("exam", "other"):
        storage.publish(survey(name=name))
    storage.delete_survey("exam")
    storage.close()
    served: list[str] = []
    monkeypatch.setattr("sottovoce.cli.serve.run", lambda _, lines: served.extend(lines))
    result = run("serve", file, "--data", tmp_path, "--port", free_port())

    assert (result.exit_code, result.output) == (0, "")
    assert [line for line in served if "deleted" in line] == [
        f"Warning: {file} is not published: its survey was deleted, and devices remember its name."
    ]
    assert [line.split(":")[0] for line in served if line.startswith("Survey ")] == ["Survey other"]
