"""A database's password, a researcher's key, a one-time token, links that sign in and invite: in no process list,
environment, log, traceback or file but those that were made to hold them, whichever verb runs.
"""

import os
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest
import requests
import yaml
from sottovoce.cli.main import main
from sottovoce.cli.process import free_port, wait_until_ready
from sottovoce.cli.tree import HIDDEN

from tests import postgres
from tests.journey.test_hostile_http import JSON
from tests.surveys import document

PASSWORD = "Passw0rdMark7f3a9c"
RUN = {
    "db migrate": [],
    "survey publish": ["exam.yaml", "--keep"],
    "staff add": ["ann"],
    "staff key revoke": ["--all", "bob", "--yes"],
    "survey list": [],
    "survey show": ["exam"],
    "survey trial": ["exam.yaml"],
    "link create": ["exam", "--count", "3", "--out", "links.csv"],
    "link stats": ["exam"],
    "link revoke": ["exam", "revoked.csv"],
    "link reissue": ["exam"],
    "link hold": [],
    "survey reopen": ["exam"],
    "db doctor": [],
    "db purge": ["--clock-ok"],
    "db backup": ["saved.sqlite"],
    "db restore": ["saved.sqlite"],
    "db copy": ["--to-file", "other"],
    "results export": ["exam", "--out", "results.json"],
    "results crosstab": ["exam", "--rows", "cheated", "--columns", "year"],
    "results compare": ["exam", "--outcome", "cheated", "--groups", "year"],
    "results associations": ["exam"],
    "results test": ["exam", "--question", "cheated", "--share", "yes=0.3"],
    "results mixture": ["exam", "cheated"],
    "results regress": ["exam", "cheated ~ year"],
    "results weights": ["exam", "--margins", "exam.yaml"],
    "staff list": [],
    "staff recover": [],
    "staff disable": ["bob"],
    "staff enable": ["bob"],
    "staff grant": ["ann", "viewer", "--survey", "exam"],
    "staff roles": [],
    "staff revoke": ["ann", "--survey", "exam"],
    "staff invite": ["analyst"],
    "staff key create": ["bob"],
    "staff key list": [],
    "staff delete": ["bob", "--yes"],
    "db journal show": [],
    "db journal verify": [],
    "db journal export": [],
    "healthcheck": [],
    "survey close": ["exam"],
    "survey delete": ["exam", "--yes"],
}
"""Verbs and their words, in an order in which most of them succeed; those that refuse must tell no more than others."""

SHOWN = {"staff add", "staff key create", "staff invite", "staff recover"}
"""Verbs that show a secret, once: a key, or a link of which it is the end."""

FEW = ("survey publish", "link create", "link revoke", "staff key create", "staff invite")
"""Those of them that handle secrets themselves, and what they need."""

STARTED = {"serve", "respond"}
"""Verbs that this test runs in another way: as the process that all others run beside, and as a person's."""

KNOWS_NONE = {
    "survey qr": "draws a public link",
    "survey paper": "writes a questionnaire for paper, with no link",
    "survey letter": "writes what everybody is told, with the public link",
    "device clear": "opens a respondent's own ledger, in which a token stands as its key",
    "device send": "as above",
    "device show": "as above",
    "device verify": "asks for a public page, by an address without secrets",
    "survey page": "writes public files",
    "demo": "makes a database of its own, with a token that it shows nobody",
    "new": "writes a sample",
    "question lint": "reads a question's file",
    "question snippet": "as above",
    "question publish": "writes a public question",
    "question static": "writes public files",
    "lint": "reads a survey file",
    "plan": "reads a survey file",
    "survey privacy": "reads a survey file",
    "survey simulate": "reads a survey file",
    "audit": "reads a survey file",
    "curator bind": "reads a curator's own file and what is declared of it; no account, key or token",
    "curator budget": "as above",
    "curator plan": "as above",
    "curator count": "as above",
    "curator histogram": "as above",
    "curator names": "as above",
    "curator quantiles": "as above",
    "curator sum": "as above",
    "curator mean": "as above",
    "curator vector": "as above",
    "curator reidentify": "as above",
    "curator top": "as above",
    "curator cluster": "as above",
    "results list-experiment": "reads a file of item counts",
    "results items": "reads a file of reports",
    "results estimate": "reads a folder of reports that was exported; on S3 with what the environment lets it in",
}
"""Verbs that are given no secret, each with the reason why not."""


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below is not None
            yield from leaves(below, (*path, name))
    else:
        yield " ".join(path)


def test_every_verb_is_run_with_secrets_or_knows_none() -> None:
    """A new verb is added to one of the lists, with its words or with the reason."""
    assert [*RUN, *STARTED, *KNOWS_NONE] == list(dict.fromkeys([*RUN, *STARTED, *KNOWS_NONE]))
    assert {*leaves(main), *HIDDEN} == {*RUN, *STARTED, *KNOWS_NONE}


def family(pid: int) -> list[Path]:
    folder = Path(f"/proc/{pid}")
    try:
        below = (folder / "task" / str(pid) / "children").read_text().split()
    except OSError:
        return []
    return [folder, *(each for child in below for each in family(int(child)))]


class Run:
    """Verbs with a database whose address holds a password, in a file; and all that they leave behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secret = folder / "database"
        self.secret.write_text(with_password(postgres.fresh()))
        self.secret.chmod(0o600)
        self.environment = {
            **os.environ, "SOTTOVOCE_DATABASE_FILE": str(self.secret), "SOTTOVOCE_LEDGER": str(folder / "ledger"),
        }  # fmt: skip
        self.seen: set[bytes] = set()
        self.said = b""
        self.shown: list[str] = []

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen([sys.executable, "-m", "sottovoce.cli", *words], cwd=self.folder, stdout=log,
                                    stderr=log, env=self.environment, umask=0o022)  # fmt: skip

    def verb(self, *words: str, given: bytes = b"", database: Path | None = None) -> bytes:
        """Run a verb to its end, looking at its process; gives what it said."""
        environment = self.environment | ({} if database is None else {"SOTTOVOCE_DATABASE_FILE": str(database)})
        process = subprocess.Popen([sys.executable, "-m", "sottovoce.cli", *words], cwd=self.folder, umask=0o022,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   env=environment)  # fmt: skip
        watcher = threading.Thread(target=self._watch, args=(process,), daemon=True)
        watcher.start()
        said, _ = process.communicate(given, timeout=120)
        watcher.join()
        if SHOWN & {" ".join(words[:count]) for count in (2, 3)} and process.returncode == 0:
            [secret] = re.findall(rb"[\w-]{20,}$", said, re.MULTILINE)
            self.shown.append(secret.decode())
            said = said.replace(secret, b"", 1)
        self.said += said
        return said

    def look(self, pid: int) -> None:
        """At the words and the environment of a process and of all below it; others see the words only."""
        for folder in family(pid):
            with suppress(OSError):
                self.seen |= {(folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()}

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            self.look(process.pid)
            time.sleep(0.1)


def with_password(url: str) -> str:
    """The address with a password, for which this server does not ask."""
    return re.sub(r"//([^@/]*?)(:[^@/]*)?@", rf"//\1:{PASSWORD}@", url, count=1)


def one_time_tokens(folder: Path) -> list[str]:
    return [line.split(",")[0] for line in (folder / "links.csv").read_text().splitlines()[1:]]


def test_no_secret_is_where_others_can_read_it(tmp_path: Path) -> None:
    """Verbs that handle secrets, a person's report and refused requests, beside a running node."""
    check_run(tmp_path, FEW)


@pytest.mark.slow
def test_no_verb_puts_a_secret_where_others_can_read_it(tmp_path: Path) -> None:
    check_run(tmp_path, tuple(RUN))


def check_run(tmp_path: Path, verbs: tuple[str, ...]) -> None:
    """Run these verbs with the database there, and one with it away; then look at all that can be seen of them."""
    run = Run(tmp_path)
    assert PASSWORD in run.secret.read_text()
    (tmp_path / "exam.yaml").write_text(yaml.safe_dump(document(access="token"), sort_keys=False))
    (tmp_path / "other").write_text(with_password(postgres.fresh()))
    (tmp_path / "other").chmod(0o600)
    run.verb("staff", "add", "bob")
    [first] = run.shown
    port = free_port()
    node = run.start("serve", "--port", str(port))
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url, node, 90)
        tokens = use_verbs(run, url, first, verbs)
        run.look(node.pid)
    finally:
        node.terminate()
        node.wait(timeout=30)

    marks = [PASSWORD, *run.shown, *tokens]
    assert len(run.seen) > len(verbs)
    assert len(run.shown) == len(set(run.shown)) == 1 + sum(name in SHOWN for name in verbs)
    shown = b"\n".join([*run.seen, run.said, (tmp_path / "log").read_bytes()])
    assert [mark for mark in marks if mark.encode() in shown] == []
    holders = {"database", "other", "away", "links.csv", "revoked.csv"}
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        held = [mark for mark in marks if mark.encode() in path.read_bytes()]
        assert not held or path.name in holders or "ledger" in path.relative_to(tmp_path).parts[0], path.name
        assert not held or path.name == "revoked.csv" or stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


def use_verbs(run: Run, url: str, researcher: str, verbs: tuple[str, ...]) -> list[str]:
    """A person's and a program's requests too; gives the one-time tokens."""
    tokens: list[str] = []
    for name in verbs:
        words = RUN[name]
        if name == "link revoke":
            tokens = one_time_tokens(run.folder)
            (run.folder / "revoked.csv").write_text(f"{tokens[2]}\n")
            send_wrongly(url, researcher, tokens[1])
            link = next(
                line.split(",")[1] for line in (run.folder / "links.csv").read_text().splitlines() if tokens[0] in line
            )
            (run.folder / "answers.json").write_text('{"cheated": "yes", "reason": "fear", "year": "second"}')
            here = re.sub(r"https?://[^/]+", url, link)
            answered = run.verb("respond", "-", "--answers", "answers.json", "--yes", given=f"{here}\n".encode())
            assert b'"report_id"' in answered, answered.decode()
        said = run.verb(*name.split(), *words)
        assert b"Traceback" not in said, said.decode()
        if name in SHOWN:
            use_what_was_shown(url, run.shown[-1])
    away = run.folder / "away"
    away.write_text(f"postgresql://sottovoce:{PASSWORD}@127.0.0.1:1/none")
    away.chmod(0o600)
    said = run.verb("db", "doctor", database=away)
    assert b"Traceback" not in said, said.decode()
    return tokens


def use_what_was_shown(url: str, secret: str) -> None:
    """A link is opened, not confirmed; a key asks for what it may see; and each is tried where it opens nothing."""
    for path in (f"/dashboard/invitation?link={secret}", f"/dashboard/sign-in?link={secret}", "/api/v1/surveys"):
        reply = requests.get(url + path, headers={"Authorization": f"Bearer {secret}"}, timeout=30)
        assert reply.status_code < 500


def send_wrongly(url: str, researcher: str, token: str) -> None:
    for method, path, secret in (
        ("GET", "/metrics", researcher),
        ("GET", f"/api/v1/surveys/exam/estimates?token={researcher}", researcher),
        ("POST", "/api/v1/surveys/exam/reports", token),
        ("POST", f"/api/v1/surveys/exam/close?key={researcher}", "nobody"),
    ):
        requests.request(
            method, url + path, headers={**JSON, "Authorization": f"Bearer {secret}"}, data=b"{}", timeout=30
        )
