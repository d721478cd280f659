"""A file that a user names is written whole; an aggregator as a process: its port, its orders, what ``serve`` says."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.cli.command import check_new_folder, new_folder, write_text
from sottovoce.cli.process import capture_signals, end, free_port, wait_until_ready
from sottovoce.cli.serve import notes
from sottovoce.shared.errors import StorageError

from tests.commands import run
from tests.conftest import Running
from tests.surveys import document, survey

WRITE = "import sys; from pathlib import Path; from sottovoce.cli.command import write_text; "


def test_file_is_made_or_replaced_as_a_whole(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    for text in ("first", "second, Ä"):
        write_text(text, out)
        assert out.read_text(encoding="utf-8") == text

    assert list(tmp_path.iterdir()) == [out]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_link_is_refused_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    """Also one that leads nowhere yet, and one that was put where a temporary file might come to lie."""
    target, link, loose = tmp_path / "target", tmp_path / "link", tmp_path / "loose"
    target.write_text("mine")
    link.symlink_to(target)
    loose.symlink_to(tmp_path / "nothing")
    (tmp_path / "out.part").symlink_to(target)
    for path in (link, loose):
        with pytest.raises(StorageError, match="is a symbolic link"):
            write_text("text", path)
    write_text("text", tmp_path / "out")

    assert link.is_symlink()
    assert loose.is_symlink()
    assert target.read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_pipe_and_device_are_written_to_and_stay(tmp_path: Path) -> None:
    """A fifo gets the text; so does a device of the kind of /dev/null, where one can be made."""
    pipe, device, read = tmp_path / "pipe", tmp_path / "device", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text("through", pipe)
    reader.join(20)
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    if os.geteuid() == 0:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        write_text("away", device)
        assert stat.S_ISCHR(device.lstat().st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_standard_output_is_written_to_by_its_name(tmp_path: Path, name: str) -> None:
    """Into a pipe, and behind what stands in a file already."""
    command = [sys.executable, "-c", f"{WRITE}write_text('text', Path({name!r}))"]
    into_pipe = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    with (tmp_path / "kept").open("a") as file:
        file.write("before ")
        file.flush()
        subprocess.run(command, stdout=file, check=True)

    assert into_pipe == b"text"
    assert (tmp_path / "kept").read_text() == "before text"


def test_what_is_neither_file_nor_device_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "out"):
        with pytest.raises(StorageError):
            write_text("text", path)

    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_empty_or_not_there_may_be_written_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        check_new_folder(tmp_path / name)
        with new_folder(tmp_path / name) as folder:
            (folder / "a").write_text("a")
        assert (tmp_path / name / "a").read_text() == "a"

    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("full", "file", "link"):
        with pytest.raises(StorageError, match="it was left as it is"):
            check_new_folder(tmp_path / name)


def test_folder_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / ".out.abc.part").mkdir()

    def fail() -> None:
        with new_folder(tmp_path / "out") as folder:
            (folder / "a").write_text("a")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_folder_that_got_something_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    def write() -> None:
        with new_folder(tmp_path / "out") as folder:
            (folder / "a").write_text("a")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "theirs").write_text("theirs")

    with pytest.raises(StorageError, match="cannot be written"):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["theirs"]


@pytest.mark.parametrize("arguments", [("question", "static"), ("survey", "page", "https://a.example", "--folder")])
def test_folder_for_a_web_server_can_be_read_by_it(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Files have mode 0644 and folders 0755, however strict the umask of who writes them."""
    before = os.umask(0o077)
    try:
        done = run(*arguments, tmp_path / "web")
    finally:
        os.umask(before)
    places = [tmp_path / "web", *(tmp_path / "web").rglob("*")]

    assert done.exit_code == 0
    assert len(places) > 5
    assert {(path.is_dir(), oct(path.stat().st_mode & 0o777)) for path in places} <= {(True, "0o755"), (False, "0o644")}


def test_free_port_is_none_that_systems_give_away() -> None:
    """Below those of outgoing connections, of which one could be taken before it is bound."""
    assert {20_000 <= free_port() < 32_000 for _ in range(20)} == {True}


def test_nobody_waits_for_a_process_that_has_ended() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(timeout=60)

    with pytest.raises(StorageError, match="did not start"):
        wait_until_ready(f"http://127.0.0.1:{free_port()}", ended, seconds=3600)


def test_process_that_does_not_end_when_told_is_killed() -> None:
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
    port = urlsplit(running.url).port or 0
    for host in ("127.0.0.1", "0.0.0.0"):  # noqa: S104 - nobody listens there
        assert check(port, host=host) == (0, "")
        assert check(port, "--ready", host=host) == (0, "")


def test_nobody_is_no_node() -> None:
    code, said = check(free_port())

    assert (code, "no node answers" in said, "Traceback" in said) == (1, True, False)


LAST_STEPS = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)
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
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_order_at_the_end_of_an_object_is_noted(number: str, handler: str) -> None:
    """An exception there is forgotten, the order with it; in the background only the server hears Ctrl-C."""
    script = LAST_STEPS.replace("NUMBER", number).replace("HANDLER", handler)
    assert ended(script) == (0, "True\n", "")


def test_second_ctrl_c_ends_it_and_one_after_term_is_not_the_second() -> None:
    """What is put away after an order is put away whole."""
    script = LAST_STEPS.replace("NUMBER", "SIGTERM").replace("HANDLER", "default_int_handler")
    after = "    os.kill(os.getpid(), signal.SIGINT)\n    print('put away')\n"
    assert ended(script + after) == (0, "True\nput away\n", "")

    code, out, err = ended(TWICE)
    assert (code, out, err.strip().endswith("KeyboardInterrupt")) == (-signal.SIGINT, "noted\n", True)


def fail_once_told() -> None:
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


EARLY = """
import os, signal, sys
from sottovoce.aggregator.settings import Settings
from sottovoce.cli import server
if number := int(sys.argv[2]):
    os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), number))
server.run(Settings(port=int(sys.argv[1])), "json:none", ["a link"])
"""


@pytest.mark.parametrize(("number", "code"), [(0, 1), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 1)])
def test_worker_that_cannot_start_is_started_once_more(number: int, code: int) -> None:
    """Told to end as the first thing after its fork it ends, and its parent is told nothing; Ctrl-C is its parent's."""
    command = [sys.executable, "-c", EARLY, str(free_port()), str(number)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    said = [line for line in ended.stderr.splitlines() if line == "a link" or line.startswith("The process")]
    assert said == [f"The process that serves ended unexpectedly, with {code}."] * 2 + ["a link"]
    assert ended.returncode == 1


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, ["SOTTOVOCE_PUBLIC_URL"]),
        ({"public_url": "https://survey.example.org"}, []),
        ({"trusted_hosts": "survey.example.org"}, []),
    ],
)
def test_operator_is_told_that_any_host_name_is_accepted(settings: dict[str, str], told: list[str]) -> None:
    found = list(notes(Settings(**settings)))

    assert len(found) == len(told)
    assert all(word in line for word, line in zip(told, found, strict=True))


def test_setting_for_frames_is_ignored_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
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
