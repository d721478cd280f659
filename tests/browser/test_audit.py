"""The audit of a served form, in a real browser: what is served honestly passes, and what was planted is found."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from sottovoce.audit.check import FAILED, NOT_DONE, PARTS, PASSED, Check
from sottovoce.audit.run import frame_files
from sottovoce.audit.served.frame_visits import problem_of_visits
from sottovoce.audit.served.served_page import check_file, check_files, check_survey, fetch_survey
from sottovoce.client.link import Link, parse_link
from sottovoce.client.page import PageFile, by_path
from sottovoce.shared import canonical
from sottovoce.shared.errors import TransportError
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.single_question import parse_question
from sottovoce.shared.spec import Survey

from tests.blocks import block, in_block
from tests.browser.chromium import find
from tests.conformance.browser_runs import WAVES, ServedForm, check_visits, fetch_form
from tests.conformance.signing_keys import MODULI, with_test_keys
from tests.conformance.wire_runs import SUBJECT
from tests.conftest import Running, start
from tests.documents import question, survey as documented
from tests.listener import Captured, http, listening
from tests.page_files import page_files
from tests.surveys import every_type, months, parse_survey, survey
from tests.unit.shared.test_schema import validator

WEAK = parse_survey(documented(question({"name": "binary_rr", "a": "3/5", "b": "2/5"})))

EVERY = survey(name="every", questions=every_type())
_COIN = {"name": "coin_flip"}
PARTLY = parse_survey(documented(*({**question(_COIN), "name": f"q{place}"} for place in range(4)), ask=2))
DRAWN = parse_survey(
    documented(
        *(block(*map(in_block, names), name=names) | {"ask": ask} for names, ask in (("abc", 2), ("defgh", 3))),
        waves=months(2),
    )
)

_MEMO = {"name": "memoized_rr", "permanent": _COIN, "instantaneous": _COIN, "waves": 2}
MEMOIZED = parse_survey(documented(question(_MEMO), waves=months(2)))
_WAITING = {"procedure": "device", "release_batch": 25, "send_within_hours": 1}
WAITING = parse_survey(documented(question(_COIN), privacy=_WAITING))
TIMED = parse_survey(documented(question(_COIN), privacy={"send_at_seconds": 180}))
BLIND = with_test_keys(
    parse_survey(
        documented(
            question(_COIN),
            access={"blind": [spell_modulus(each) for each in MODULI[-2:]]},
            privacy=_WAITING,
            waves=months(2),
        )
    )
)

Change = Callable[[dict[str, str]], None]


@contextmanager
def serving(
    asked: Survey,
    change: Change = lambda _files: None,
    earlier: tuple[Survey, ...] = (),
    assets: Mapping[str, PageFile] | None = None,
) -> Iterator[Link]:
    """What an aggregator serves, some texts of its files changed; ``assets`` are by default those of this release."""
    assets = assets or page_files()
    documents = [each.document for each in (asked, *earlier)]
    revisions = {"format": "sottovoce-revisions/1", "revisions": documents, "survey": asked.name}
    bodies = {"": asked.canonical, "/revisions": canonical.dump(revisions)}
    texts = {name: asset.body.decode() for name, asset in assets.items()}
    change(texts)
    names = {id(asset): name for name, asset in assets.items()}
    paths = {path: names[id(asset)] for path, asset in by_path(assets, asked.name).items()}

    def answer(request: Captured) -> bytes:
        _, path = request.path.split()
        name = paths.get(path.partition("?")[0])
        if name is not None:
            return http("200 OK", texts[name].encode(), f"Content-Type: {assets[name].content_type}")
        known = bodies.get(path.removeprefix(f"/api/v1/surveys/{asked.name}"))
        return http("404 No") if known is None else http("200 OK", known, "Content-Type: application/json")

    with listening(answer) as server:
        yield parse_link(f"{server.url}/s/{asked.name}#d={asked.digest[:32]}")
        assert server.bodies == []


def planted(name: str, right: str, wrong: str) -> Change:
    def change(files: dict[str, str]) -> None:
        assert right in files[name], "the script has changed, and with it what must be planted"
        files[name] = files[name].replace(right, wrong)

    return change


def outcomes(checks: list[Check]) -> set[str]:
    return {check.outcome for check in checks}


@pytest.mark.parametrize(
    "asked", [WEAK, EVERY, PARTLY, MEMOIZED, WAITING, BLIND], ids=["weak", "every", "ask", "memo", "waiting", "blind"]
)
def test_honest_form_passes(asked: Survey) -> None:
    with serving(asked) as first:
        link = replace(first, wave=len(asked.waves) - 1)
        assert check_survey(link, asked, fetch_survey(link)).outcome == PASSED
        assert outcomes(check_files(link)) == {PASSED}


def test_file_that_differs_is_found() -> None:
    """By its name: a form that sends the truth."""
    with serving(WEAK, planted("sending.js", "ownCoin, memo) {", "ownCoin, memo) {\nreturn value;")) as link:
        assert [check.subject for check in check_files(link) if check.outcome == FAILED] == ["sending.js"]


def runs(browser: Browser, link: Link, asked: Survey) -> dict[str, str]:
    """What a few whole visits find, by subject."""
    checks = check_visits(browser, ServedForm(asked, fetch_form(link), 0), lambda _share: None)
    return {check.subject: check.message for check in checks}


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(EVERY, id="every"),
        pytest.param(PARTLY, id="ask", marks=pytest.mark.slow),
        pytest.param(DRAWN, id="blocks", marks=pytest.mark.slow),
        pytest.param(MEMOIZED, id="memo", marks=pytest.mark.slow),
        pytest.param(WAITING, id="waiting", marks=pytest.mark.slow),
        pytest.param(TIMED, id="set moments", marks=pytest.mark.slow),
        pytest.param(BLIND, id="blind", marks=pytest.mark.slow),
    ],
)
def test_honest_form_leaves_the_same_whatever_is_answered(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, asked: Survey
) -> None:
    """With every type of question, a set of questions, and a person who comes again in the second wave."""
    monkeypatch.setattr("tests.conformance.browser_runs.VISITS", 4)
    with serving(asked) as link:
        found = runs(browser, link, asked)

    assert found == dict.fromkeys([SUBJECT, WAVES] if len(asked.waves) > 1 else [SUBJECT], "")


ENCODED = "return survey.encode(answers, asked);"
LEAKS = {
    "storage": (ENCODED, 'localStorage.setItem("q", answers.q);\nreturn survey.encode(answers, asked);',
                "what lies in the browser when the report was sent"),
    "forgotten": ('await ledger.end(key, "forgotten");', "", "the browser keeps the report when it was forgotten"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEAKS)
def test_form_that_leaves_something_is_found(browser: Browser, name: str) -> None:
    """Though what it reports has the right odds, and its requests are those that there should be."""
    right, wrong, words = LEAKS[name]
    with serving(WEAK, planted("sending.js", right, wrong)) as link:
        assert words in runs(browser, link, WEAK)[SUBJECT]


SIGNED = "Authorization: `Blind ${signature}`"


@pytest.mark.parametrize(
    "sent", ["Authorization: `Blind ${signature}A`", pytest.param("Authorization: signature", marks=pytest.mark.slow)]
)
def test_form_that_says_more_than_a_signature_is_found(browser: Browser, sent: str) -> None:
    """What lets a report in is the signature of its id, and goes alone."""
    with serving(BLIND, planted("respondent.js", SIGNED, sent)) as link:
        assert "the signature of its id alone" in runs(browser, link, BLIND)[SUBJECT]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            planted("sending.js", "function perturb(", "fetch('../assets/answering.js?yes');\nfunction perturb("),
            "the page makes requests that it does not need",
        ),
        (
            planted("respondent.js", "const COMING = new Map();", "const COMING = new Map();\nfetch('../elsewhere');"),
            "the page makes requests that it does not need",
        ),
        (
            planted("respondent.js", "spellReport(report).padEnd(", "spellReport(report).padEnd(1 + "),
            "the page sends something else than a report of this survey",
        ),
    ],
)
def test_form_that_does_something_else_is_found(browser: Browser, change: Change, words: str) -> None:
    with serving(WEAK, change) as link:
        assert runs(browser, link, WEAK) == {SUBJECT: words}


def test_survey_that_the_form_refuses_is_no_pass(browser: Browser) -> None:
    """It costs more than the form allows, so that there is no visit to make."""
    dear = parse_survey(documented(question({"epsilon": "4"})))
    [check] = check_visits(browser, ServedForm(dear, {}, 0), lambda _share: None)

    assert check.outcome == NOT_DONE
    assert "costs more than the default limit" in check.message


@pytest.mark.slow
def test_command_audits_a_running_aggregator(tmp_path: Path) -> None:
    """The whole command, in JSON, on a correction as its author wrote it; nothing that it draws is stored."""
    executable, environment = find()
    path = tmp_path / "survey.json"
    written = parse_survey({**WEAK.document, "revision": 2})
    path.write_bytes(written.canonical)
    with start(tmp_path / "data", parse_survey({**written.document, "replaces": WEAK.digest})) as running:
        words = ["audit", str(path), "--quick", "--client", running.link, "--json"]
        run = subprocess.run(
            [sys.executable, "-m", "sottovoce.cli", *words],
            env={**environment, "CHROMIUM": executable},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        stored = running.reports()
    report = json.loads(run.stdout)

    validator("audit").validate(report)
    assert stored == 0
    assert run.returncode == 0
    assert (report["verdict"], report["digest"]) == ("passed", written.digest)
    # The two others are of an embedded question.
    assert {check["part"] for check in report["checks"]} == {*PARTS} - {"core", "frame"}


def test_file_need_not_say_what_it_replaces() -> None:
    """Publishing fills that in; whatever else differs is another survey. An earlier revision is found by its link."""
    served = parse_survey({**WEAK.document, "revision": 2, "replaces": WEAK.digest})
    written = parse_survey({**WEAK.document, "revision": 2})
    with serving(served, earlier=(WEAK,)) as link:
        found = [fetch_survey(link), fetch_survey(replace(link, digest=WEAK.digest[:32]))]

    assert found == [served, WEAK]
    assert [check_survey(link, written, each).outcome for each in found] == [PASSED, FAILED]
    assert check_survey(link, WEAK, WEAK).outcome == PASSED


def test_file_need_not_have_the_keys() -> None:
    """Publishing adds them; with keys of another survey it is another one."""
    written = parse_survey({**BLIND.document, "access": "blind"})
    other = parse_survey({**BLIND.document, "access": {"blind": BLIND.document["access"]["blind"][::-1]}})
    with serving(BLIND) as link:
        served = fetch_survey(link)

    assert check_survey(link, written, served).outcome == PASSED
    assert check_survey(link, other, served).outcome == FAILED
    assert check_survey(link, parse_survey({**written.document, "waves": months(1)}), served).outcome == FAILED


def test_survey_that_the_link_does_not_name(browser: Browser) -> None:  # noqa: ARG001 - the same place
    with serving(WEAK) as link:
        with pytest.raises(TransportError, match="another survey than the one your link names"):
            fetch_survey(replace(link, digest="0" * 32))
        wave = check_survey(replace(link, wave=1), WEAK, fetch_survey(link))

    assert (wave.outcome, wave.message) == (FAILED, "the link is for a wave that the survey does not have")


@pytest.mark.parametrize("name", ["where", "compass", "often"])
def test_honest_frame_passes(browser: Browser, name: str) -> None:
    """For radio buttons, numbers and a refusal that has its home within the channel."""
    [document] = [each for each in every_type() if each["name"] == name]
    assert problem_of_visits(browser, parse_question(document), frame_files(), 3, lambda _share: None) == ""


def test_served_frame_is_compared(site: Running) -> None:
    """Byte by byte with this release's; a host that serves something else is found by each file."""
    address = f"{site.url}/q/1/"
    served = [check_file(name, address + name, file.body) for name, file in frame_files().items()]
    assert outcomes(served) == {PASSED}
    assert check_file("index.html", address, b"another frame").outcome == FAILED
