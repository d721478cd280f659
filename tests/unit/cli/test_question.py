"""``question``: check, snippets and files of one private question for other systems."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
from sottovoce.aggregator.authoring.question_snippets import HOSTS
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.survey_file import read_published
from sottovoce.client.question_page import link_page, question_assets, question_page
from sottovoce.shared.by_link.link_question import parse_link
from sottovoce.shared.single_question import element_name, parse_question

from tests import commands
from tests.commands import done, refused
from tests.vectors.cases import named

run = partial(commands.run, "question")

FRAME = "https://q.example.org/q/1/"
QUESTION = {
    "type": "boolean",
    "name": "cheated",
    "label": {"en": 'Isn\'t it "so" & <b>?'},
    "mechanism": named("coin_flip"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "cheated.yaml"
    found.write_text(json.dumps(QUESTION))
    return found


def test_lint_shows_cost_channel_and_digest(path: Path) -> None:
    """As JSON it prints the canonical question, which has the same digest."""
    shown = done(run("lint", path))
    assert "binary_rr a=3/4 b=1/4" in shown.output
    canonical = json.loads(run("lint", path, "--json").output)
    assert parse_question(canonical).digest in shown.output


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mechanism": {"name": "none"}}, "/mechanism"),
        ({"mechanism": {"epsilon": "3.5"}}, "devices allow 3"),
        ({"type": "note"}, "/type"),
        ({"name": "Not a name"}, "/name"),
        ({"public": True}, "/public"),
        ({"choises": []}, "/choises"),
        (
            {
                "type": "select_one",
                "choices": [{"name": name, "label": {"en": name}} for name in ("here", "absent")],
                "mechanism": named("kary_rr", odds="3"),
            },
            "has an option named absent, as files call no answer",
        ),
    ],
)
def test_wrong_question_is_refused(path: Path, changes: dict[str, object], message: str) -> None:
    path.write_text(json.dumps({**QUESTION, **changes}))
    ended = refused(run("lint", path))
    assert message in ended.output
    assert "Traceback" not in ended.output


def test_missing_file_and_address_are_refused(path: Path, tmp_path: Path) -> None:
    assert "was not found" in run("lint", tmp_path / "other.yaml").output
    assert "such as https://" in run("snippet", path).output
    assert "such as https://" in run("snippet", path, "--at", "http://q.example.org/q/1/").output
    (tmp_path / "there").mkdir()
    assert run("static", tmp_path / "there").exit_code == 1


@pytest.mark.parametrize("host", HOSTS)
def test_snippet_carries_the_very_question_and_holds_up_nothing(path: Path, host: str) -> None:
    """Nobody must answer; LimeSurvey drops ``{bubbles: true}``, and keeps ``{ bubbles: true }``."""
    text = run("snippet", path, "--at", FRAME, "--host", host).output
    assert FRAME in text
    assert question_in(text) == parse_question(QUESTION).document

    assert "required" not in text
    assert "NextButton" not in text

    own = r"\{\{ \w+\.code \}\}|\{(TOKEN|SGQ|participant)\}|\$\{e://Field/\w+\}"
    assert re.findall(r"\{\w.*", re.sub(own, "", text)) == []


def test_former_name_of_the_address_is_read(path: Path) -> None:
    """Scripts that were written for the last release go on."""
    assert run("snippet", path, "--frame", FRAME).output == run("snippet", path, "--at", FRAME).output


@pytest.mark.parametrize("host", sorted(set(HOSTS) - {"jspsych", "surveyjs"}))
def test_snippet_runs_one_script_and_says_when_there_is_none(path: Path, tmp_path: Path, host: str) -> None:
    """The file by its hash, which a static host has, too; what stands inside the element shows without the file."""
    text = run("snippet", path, "--at", FRAME, "--host", host).output
    [name] = set(re.findall(r"element[\w-]*\.js", text))
    run("static", tmp_path / "static")
    script = (tmp_path / "static" / name).read_bytes()
    assert name == element_name(script)
    assert base64.b64encode(hashlib.sha384(script).digest()).decode() in text
    assert "cannot be shown now. Please go on without it." in text


def question_in(text: str) -> object:
    """Return the question of a snippet, as a browser would read it."""
    if 'decodeURIComponent("' in text:
        return json.loads(unquote(text.split('decodeURIComponent("')[1].split('"', maxsplit=1)[0]))
    if "question: " in text:
        found_in = json.JSONDecoder().raw_decode(text.split("question: ")[1])[0]
        return json.loads(found_in) if isinstance(found_in, str) else found_in
    found: list[object] = []

    class Reader(HTMLParser):
        def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(json.loads(value or "") for name, value in attrs if name == "question")

    Reader().feed(text)
    return found[0]


def test_ethics_paragraph_names_odds_and_belief_of_each_visit(path: Path) -> None:
    """A tenth becomes at most a quarter with the coin; three draws multiply the odds by 27."""
    text = run("snippet", path, "--ethics").output
    assert "75 of 100 people send yes" in text
    assert "at most 25%" in text
    assert "epsilon = 1.10" in text
    assert "page cannot see or hear what you do in this window" in text
    assert "visit" not in text

    text = run("snippet", path, "--ethics", "--visits", "3").output
    assert "each visit draws anew, which is counted for 3 visits" in text
    assert "epsilon = 3.30" in text
    assert "at most 75%" in text


def test_ethics_paragraph_of_a_block_names_all_its_questions(path: Path) -> None:
    items = [{"type": "boolean", "name": name, "label": {"en": f"Have you {name}?"}} for name in ("copied", "lied")]
    made = {"name": "joint_rr", "odds": "9", "radius": 0}
    path.write_text(json.dumps({"block": "both", "items": items, "mechanism": made}))
    text = run("snippet", path, "--ethics").output
    assert '"Have you copied?", "Have you lied?"' in text
    assert text.count("75 send exactly these") == 1
    assert "epsilon = 2.20, for all of them and for each" in text
    assert "at most 50%" in text


def test_ethics_paragraph_of_a_link_says_where_the_answer_is_seen(path: Path) -> None:
    path.write_text(json.dumps(LINK | {"pass": ["token"]}))
    text = " ".join(run("snippet", path, "--ethics").output.split())
    assert "The browser keeps this address in its history, and forms.example.org keeps it with" in text
    assert "IP address, with what else is in the participant's link." in text
    assert "at most 25%" in text
    assert "this window" not in text
    second = QUESTION | {"name": "lied"}
    path.write_text(json.dumps({"questions": [QUESTION, second], "then": LINK["then"]}))
    text = " ".join(run("snippet", path, "--ethics").output.split())
    assert "epsilon = 2.20, for all of them together: a person" in text
    assert "2 questions of the survey are asked" in text
    assert "at most 50%" in text


def test_static_files_are_those_that_an_aggregator_serves(tmp_path: Path) -> None:
    """Their SHA-256 are printed, for people who compare them."""
    printed = run("static", tmp_path / "frame").output
    served = question_assets()
    assert (tmp_path / "frame" / "index.html").read_bytes() == served["question.html"].body
    assert (tmp_path / "frame" / "element.js").read_bytes() == served["question.js"].body
    assert hashlib.sha256(served["question.html"].body).hexdigest() in printed


@pytest.mark.external
def test_package_is_installed_into_a_fresh_project(tmp_path: Path) -> None:
    assert run("static", tmp_path / "package").exit_code == 0
    npm = shutil.which("npm")
    assert npm, "npm is needed"
    packed = subprocess.run(
        [npm, "pack", tmp_path / "package", "--silent"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    with tarfile.open(tmp_path / packed.stdout.strip()) as archive:
        assert {member.mode for member in archive if member.isfile()} == {0o644}
    project = tmp_path / "project"
    project.mkdir()
    (project / "package.json").write_text('{"type": "module"}')
    add = [npm, "install", "--offline", "--no-audit", "--no-fund", "--silent", f"../{packed.stdout.strip()}"]
    subprocess.run(add, cwd=project, check=True, capture_output=True)
    (project / "try.js").write_text(
        'import { describe, randomize, toColumns } from "@sottovoce/question/core";\n'
        f"const question = {json.dumps(parse_question(QUESTION).document)};\n"
        "const record = await randomize(question, 'yes');\n"
        "console.log(JSON.stringify([await describe(question), toColumns(record), record.digest]));\n"
    )
    ran = subprocess.run(["node", "try.js"], cwd=project, check=True, capture_output=True, text=True)
    described, columns, digest = json.loads(ran.stdout)
    assert described["digest"] == digest == parse_question(QUESTION).digest
    assert columns["cheated_channel"] == described["channel"] == "binary_rr a=3/4 b=1/4"
    installed = project / "node_modules" / "@sottovoce" / "question"
    about = json.loads((installed / "package.json").read_text())
    assert (about["author"], about["license"]) == ("The Sottovoce authors", "Apache-2.0")
    assert (installed / "README.md").is_file()
    exports = about["exports"]
    assert [path for each in exports.values() for path in ([each] if isinstance(each, str) else each.values())
            if not (installed / path).is_file()] == []  # fmt: skip
    assert "dependencies" not in about


LINK = {**QUESTION, "then": "https://forms.example.org/s", "code": "entry.1"}


def test_page_of_a_question_that_leads_on_is_named_by_its_digest(path: Path, tmp_path: Path) -> None:
    """With question and institution in it, whatever stands in their texts; its policy is that of the page without."""
    path.write_text(json.dumps(LINK))
    assert run("static", tmp_path / "pages", path, "--institution", "A <b> University").exit_code == 0
    digest = parse_link(LINK).digest
    page = (tmp_path / "pages" / f"{digest}.html").read_text()
    held = page.split('id="published">')[1].split("</script>")[0]
    assert json.loads(held) == {"institution": "A <b> University", "question": parse_link(LINK).document}
    assert "<b>" not in held
    assert link_page().policy in page
    assert digest in run("lint", path).output


def test_lint_says_that_consent_is_missing(path: Path) -> None:
    path.write_text(json.dumps(LINK))
    assert "before they consent" in run("lint", path).output
    path.write_text(json.dumps({**LINK, "consent": {"en": "May we?"}}))
    shown = run("lint", path).output
    assert "before they consent" not in shown
    assert "https://forms.example.org/s" in shown


def test_question_that_leads_on_has_no_lines_and_others_no_page(path: Path, tmp_path: Path) -> None:
    missing = run("static", tmp_path / "pages", path)
    assert missing.exit_code == 1
    assert "/then" in missing.output
    assert not (tmp_path / "pages").exists()
    path.write_text(json.dumps(LINK))
    refused = run("snippet", path, "--frame", FRAME)
    assert refused.exit_code == 2
    assert "question static" in refused.output


def test_published_question_has_the_address_of_its_digest(path: Path, tmp_path: Path) -> None:
    path.write_text(json.dumps(LINK))
    shown = done(run("publish", path, "--data", tmp_path / "data"))
    digest = parse_link(LINK).digest
    assert shown.output.splitlines()[-1].endswith(f"/q/1/{digest}")
    with closing(SQLiteStorage(tmp_path / "sottovoce.sqlite")) as storage:
        assert read_published(storage, tmp_path / "data", digest) == parse_link(LINK).canonical
    path.write_text(json.dumps(QUESTION))
    assert "/then" in run("publish", path, "--data", tmp_path / "data").output


COIN = {"type": "boolean", "name": "cheated", "label": {"en": "Ever?"}, "mechanism": named("coin_flip")}


class Host(BaseHTTPRequestHandler):
    """A host whose paths have headers and a body, or nothing."""

    pages: dict[str, tuple[dict[str, str], bytes]]

    def do_GET(self) -> None:
        headers, body = self.pages.get(self.path, ({}, b""))
        self.send_response(200 if self.path in self.pages else 404)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    """Serve the pages of ``Host``, none at first; give the origin."""
    Host.pages = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def linted(folder: Path, address: str) -> str:
    (folder / "cheated.yaml").write_text(json.dumps(COIN))
    return run("lint", folder / "cheated.yaml", "--at", address).output


def test_host_of_its_own_with_headers_lacks_nothing(tmp_path: Path, host: str) -> None:
    """The policy may stand in a header, or within the page."""
    frame = question_page()
    Host.pages["/q/1/"] = {"Origin-Agent-Cluster": "?1"}, frame.body
    assert "nothing is missing" in linted(tmp_path, f"{host}/q/1/")
    Host.pages["/q/1/"] = {"Origin-Agent-Cluster": "?1", "Content-Security-Policy": frame.policy}, b"<!doctype html>"
    assert "nothing is missing" in linted(tmp_path, f"{host}/q/1/")


@pytest.mark.parametrize(
    ("headers", "pages", "words"),
    [
        ({}, {}, "Origin-Agent-Cluster"),
        ({"Content-Security-Policy": "script-src *", "Origin-Agent-Cluster": "?1"}, {}, "no policy"),
        ({"Origin-Agent-Cluster": "?1"}, {"/": ({}, b"My blog")}, "is another page"),
    ],
)
def test_each_thing_that_is_missing_is_said(
    tmp_path: Path, host: str, headers: dict[str, str], pages: dict[str, tuple[dict[str, str], bytes]], words: str
) -> None:
    Host.pages = {"/q/1/": (headers, question_page().body), **pages}
    said = linted(tmp_path, f"{host}/q/1/")
    assert words in said
    assert said.count("Warning:") == 1


def test_address_without_a_question_is_said(tmp_path: Path, host: str) -> None:
    assert "answers 404" in linted(tmp_path, f"{host}/q/1/")
    assert "does not answer" in linted(tmp_path, "http://127.0.0.1:9/q/1/")
