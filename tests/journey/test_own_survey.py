"""A researcher's own survey, from a file and a server, and a respondent's answer in the terminal."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner
from sottovoce.cli.main import main
from sottovoce.cli.process import free_port
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import SurveyError

from tests.conftest import Running, SharedServer
from tests.surveys import ANSWERS, every_type, survey


def sottovoce(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, with an empty home; what an audit has kept of these very files is found again."""
    kept = {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))}
    environment = {**os.environ, **kept, "HOME": str(folder), "SOTTOVOCE_LEDGER": str(folder / "ledger")}
    command = [sys.executable, "-m", "sottovoce.cli", *words]
    return subprocess.run(  # noqa: PLW1510 - the exit code is what is looked at
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, **more
    )  # type: ignore[call-overload]


def invoke(folder: Path, *words: str, input: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in this process, with the folder as its home and the usual umask of a shell."""
    environment = {"HOME": str(folder), "SOTTOVOCE_LEDGER": str(folder / "ledger")}
    before = os.umask(0o022)
    try:
        with chdir(folder):
            done = CliRunner().invoke(main, words, input=input, env=environment)
    finally:
        os.umask(before)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


@contextmanager
def serving(folder: Path, *words: str, token_file: bool = True) -> Iterator[tuple[str, str, str]]:
    """A running ``serve``: what it printed, its link and the token in its file; ended by an interrupt."""
    port, file = str(free_port()), folder / "token"
    process = subprocess.Popen(
        [sys.executable, "-m", "sottovoce.cli", "serve", *words, "--port", port,
         *(["--token-file", file] if token_file else [])],
        cwd=folder, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    printed = ""
    while "Dashboard" not in printed:
        line = process.stderr.readline()
        assert line, printed
        printed += line
    url = f"http://127.0.0.1:{port}"
    # What it printed can be used at once.
    assert requests.get(f"{url}/healthz", timeout=5).ok
    link = re.search(r"http\S+/s/\S+", printed)
    try:
        yield printed, link[0] if link else "", file.read_text().strip() if f"in {file}" in printed else ""
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        process.stderr.close()


def test_serve_prints_the_token_once(tmp_path: Path) -> None:
    invoke(tmp_path, "new")
    with serving(tmp_path, "survey.yaml") as (printed, _, token):
        assert token
        assert f"Data: {tmp_path / 'sottovoce-data' / 'sottovoce.sqlite'}\n" in printed
    with serving(tmp_path) as (_, _, token):
        assert not token


def test_log_of_a_supervised_start_lets_nobody_in_for_long(tmp_path: Path) -> None:
    """Without a terminal a link is printed and no token; the first to use it gets one, and the second gets nothing."""
    with serving(tmp_path, token_file=False) as (printed, _, _):
        link = re.search(r"http\S+/dashboard/sign-in\S+", printed)
        assert link
        assert "sottovoce-key-" not in printed
        first, second = (requests.post(link[0], headers={"Sec-Fetch-Site": "same-origin"}, timeout=15) for _ in "12")
        token = re.search(r"sottovoce-key-[\w-]+", first.text)
        assert token
        assert (first.status_code, second.status_code) == (200, 401)
        bearer = {"Authorization": f"Bearer {token[0]}"}
        api = f"{link[0].partition('/dashboard')[0]}/api/v1/surveys"
        assert requests.get(api, headers=bearer, timeout=15).status_code == 200


def test_serve_refuses_a_taken_port_in_words(tmp_path: Path, running: Running) -> None:
    refused = invoke(tmp_path, "serve", "--port", running.url.rsplit(":", 1)[1])

    assert (refused.returncode, "--port" in refused.stderr) == (1, True)
    assert "Traceback" not in refused.stderr


def test_survey_file_with_mistakes_says_all_and_publishes_nothing(tmp_path: Path) -> None:
    invoke(tmp_path, "new")
    text = (tmp_path / "survey.yaml").read_text()
    broken = text.replace("revision: 1", "revision: sentinel").replace("{name: coin_flip}", "{name: sentinel}")
    broken = broken.replace('odds: "3"', 'odds: "6/2"').replace("cohort: true", "cohrt: 1")
    (tmp_path / "survey.yaml").write_text(broken)
    for words in (("lint",), ("serve",), ("survey", "publish")):
        refused = invoke(tmp_path, *words, "survey.yaml")
        places = [line.split(":")[0].rpartition(", line ")[0] for line in refused.stderr.splitlines()[1:]]
        assert refused.returncode == 1
        assert sorted(places) == [
            "question 1 'cheated', mechanism",
            "question 2 'reason', mechanism",
            "question 3 'year', cohrt",
            "revision",
        ]
        assert "sentinel" not in refused.stderr

    assert not list(tmp_path.rglob("*.sqlite"))


def test_respond_asks_in_the_terminal_and_prints_what_it_sent(tmp_path: Path, running: Running) -> None:
    numbers = "2\n2\n2\ny\n"
    first = invoke(tmp_path, "respond", running.link, input=numbers)
    again = invoke(tmp_path, "respond", running.link)
    storage = running.storage()
    stored = list(storage.rows(storage.revisions(running.survey.name)[0].key))
    storage.close()

    assert first.returncode == 0, first.stderr
    assert "If yes is true, 75 of 100 people send yes" in first.stderr
    assert "psilon 2.20 in total" in first.stderr
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert stored == [tuple(json.loads(first.stdout)["values"])]


def test_respond_leaves_no_true_answer_on_the_disk(tmp_path: Path, running: Running) -> None:
    invoke(tmp_path, "respond", running.link, input="2\n2\n2\ny\n")
    (entry,) = (tmp_path / "ledger").glob("*.json")
    document = json.loads(entry.read_text())

    named = {"origin", "survey", "wave", "digest", "epsilon", "body", "sent", "ended", "refused"}
    assert set(document) == named | {"signature", "send_at"}
    assert (document["signature"], document["send_at"]) == ("", 0)
    kept = entry.with_name(f"{running.survey.digest}.survey")
    assert {path.name for path in (tmp_path / "ledger").iterdir()} == {entry.name, kept.name}
    assert kept.read_bytes() == running.survey.canonical
    assert (entry.stat().st_mode | kept.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("nonsense", "the link must look like"),
        ("http://127.0.0.1:1/s/exam", "cannot be reached"),
        ("{url}/s/nothing", "it has no such survey"),
        ("{url}/s/{name}#d=00000000000000000000000000000000", "another survey"),
        ("{url}/s/{name}#d=xyz", "32 hexadecimal digits"),
    ],
)
def test_respond_refuses_a_bad_link_in_words(
    running: Running, monkeypatch: pytest.MonkeyPatch, link: str, message: str
) -> None:
    original = Transport.__init__

    def impatient(self: Transport, origin: str) -> None:
        original(self, origin, sleep=lambda _: None)

    monkeypatch.setattr(Transport, "__init__", impatient)
    with pytest.raises(SurveyError, match=message):
        Respondent.connect(link.format(url=running.url, name=running.survey.name), MemoryLedger())
    assert running.reports() == 0


def test_five_line_example_of_the_readme_is_the_real_interface(running: Running) -> None:
    me = Respondent.connect(running.link, MemoryLedger())
    receipt = me.answer(ANSWERS)

    assert me.answer({}) == receipt
    assert running.reports() == 1
    assert set(receipt) >= {"body", "sha256"}


def test_respond_asks_every_type_in_the_terminal(tmp_path: Path, shared_server: SharedServer) -> None:
    asked = survey(name="every", questions=every_type())
    wrong = {"select_multiple": "99", "decimal": "0.00001", **dict.fromkeys(["integer", "vector", "date"], "sentinel")}
    lines = []
    for question in asked.questions:
        lines += [wrong[question.type]] if question.type in wrong else []
        if question.domain.grid is not None:
            lines += [question.domain.grid.text(0)] * max(1, len(question.options))
        else:
            lines.append("0" if question.kind.truth == "options" else "1")
    running = shared_server.publish(asked)
    # In a process: click's runner would echo what is typed.
    answered = sottovoce(tmp_path, "respond", running.link, input="\n".join([*lines, "y", ""]))
    assert answered.returncode == 0, answered.stderr
    assert running.reports() == 1
    assert len(json.loads(answered.stdout)["values"]) == len(asked.questions)
    assert "Error" in answered.stderr
    assert "sentinel" not in answered.stderr
