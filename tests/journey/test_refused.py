"""The terminal when a survey is closed, corrected or out of reach, a link is spent, or a report was refused."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journey.test_own_survey import invoke
from tests.journey.test_terminal import answers, shown
from tests.listener import Listener, always, cut, honest, http, listening, status_of
from tests.surveys import document, survey

NAMED = {"name": {"en": "Dr A. Example"}, "institution": {"en": "University of Example"}, "contact": "ask@example.org"}
OPEN = survey(researcher=NAMED)
INVITED = survey(access="token", researcher=NAMED)
CORRECTED = survey(
    access="token", researcher=NAMED, revision=2, replaces=INVITED.digest, title={"en": "Exams, corrected"}
)
ONE, TWO, THREE = (letter * 16 for letter in "123")
REFUSED = always(http("401 Unauthorized", b'{"code":"token_invalid"}'))
WINDOW = {"opens": "2031-03-03T09:00:00Z", "closes": "2031-05-12T00:00:00Z"}
ASK = "Ask University of Example, Dr A. Example, ask@example.org."
SAME = "Answers from another link were recorded on this device, but the server did not accept them."
INTERVIEW = "\n2\n2\n2\ny\n"


@pytest.fixture
def server() -> Iterator[Listener]:
    with listening(honest(INVITED), [REFUSED]) as listener:
        yield listener


def link(server: Listener, token: str = "", asked: Any = INVITED) -> str:
    return f"{server.url}/s/exam#d={asked.digest[:32]}" + (f"&t={token}" if token else "")


def respond(folder: Path, address: str, *more: str) -> Any:
    """Answers from a file, and nobody to ask."""
    return invoke(folder, "respond", address, "--answers", answers(folder), "--yes", *more)


def sent_with(server: Listener) -> list[str]:
    reports = [request for request in server.captured if request.path.endswith("/reports")]
    return [request.head.decode().partition("Bearer ")[2].split("\r")[0] for request in reports]


@pytest.mark.parametrize(
    ("behaviour", "retired", "words"),
    [
        ({"state": "closed", "closed_on": "2026-05-12"}, False, "This survey has been closed since 2026-05-12."),
        ({"state": "closed"}, False, "This survey has been closed since 2031-05-12 00:00 UTC."),
        ({"state": "early"}, False, "Opens on 2031-03-03 09:00 UTC."),
        ({}, True, f"This version was replaced. Nothing was asked. {ASK}"),
        ({"good": False}, False, "it was used before, was taken back, or is mistyped. " + ASK),
    ],
    ids=["closed by hand", "closed", "early", "retired", "token"],
)
@pytest.mark.parametrize("asks", [True, False], ids=["interview", "file"])
def test_what_cannot_be_answered_is_told_before_anything_is_asked(
    tmp_path: Path, behaviour: dict[str, Any], retired: bool, words: str, asks: bool
) -> None:
    asked = survey(access="token", researcher=NAMED, **WINDOW)
    listed = status_of([asked], str(behaviour.get("state", "open")))["revisions"]
    revisions = [{**listed[0], "retired": retired}]
    with listening(honest(asked, **behaviour, revisions=revisions)) as server:
        address = link(server, ONE, asked)
        told = invoke(tmp_path, "respond", address, input=INTERVIEW) if asks else respond(tmp_path, address)

    assert (told.returncode, told.stdout, server.bodies) == (1, "", [])
    assert words in told.stderr
    assert "1 of 3." not in told.stderr
    assert not (tmp_path / "ledger").exists()


def test_token_is_asked_about_once_and_only_its_hash_is_sent(tmp_path: Path, server: Listener) -> None:
    """After the person was told who sees it, and not for a survey that is open to all."""
    told = invoke(tmp_path, "respond", link(server, ONE), input="n\n")
    assert "The server sees that this link was opened at your network address, and when." in told.stderr
    assert [request.path for request in server.captured if request.path.startswith("POST")] == []
    invoke(tmp_path, "respond", link(server, ONE), input=INTERVIEW)
    posts = [request for request in server.captured if request.path.startswith("POST")]
    assert [request.path.rpartition("/")[2] for request in posts] == ["token", "reports"]
    assert ONE.encode() not in posts[0].head + posts[0].body
    with listening(honest(OPEN)) as other:
        told = respond(tmp_path, link(other, asked=OPEN))
        assert "this link was opened" not in told.stderr
        assert [request.path.rpartition("/")[2] for request in other.captured] == ["exam", "status", "reports"]


@pytest.mark.parametrize(
    "reply", [cut, always(http("503 Busy")), always(http("404 Not Found", b"{}"))], ids=["cut", "busy", "old"]
)
def test_survey_is_answered_where_its_state_cannot_be_told(tmp_path: Path, reply: Any) -> None:
    """Without a connection, from a busy aggregator, or from an older one, the answer goes its way."""
    usual = honest(INVITED)

    def answer(request: Any) -> bytes | None:
        return reply(request) if request.path.endswith(("/status", "/token")) else usual(request)  # type: ignore[no-any-return]

    with listening(answer) as server:
        told = respond(tmp_path, link(server, ONE))

    assert (told.returncode, len(server.bodies)) == (0, 1)
    assert ("No connection: you can answer now; it is sent later." in told.stderr) == (reply is cut)


def test_refused_report_goes_again_only_when_somebody_says_so(tmp_path: Path, server: Listener) -> None:
    first = respond(tmp_path, link(server, ONE))
    assert "They are not sent again automatically" in first.stderr
    for words in (("--yes",), ("--answers", answers(tmp_path)), ()):
        told = invoke(tmp_path, "respond", link(server, ONE), *words, input="n\n")
        assert told.returncode == 1
        assert "refused your earlier answers. This device keeps them" in told.stderr
        assert ASK in told.stderr
    assert len(server.bodies) == 1
    assert (
        "exam, wave 0: epsilon 2.20, refused (token_invalid), with a token" in invoke(tmp_path, "device", "show").stdout
    )
    told = invoke(tmp_path, "respond", link(server, ONE), input="y\n")

    assert (told.returncode, len(server.bodies), len(set(server.bodies))) == (0, 2, 1)
    assert "have now been sent" in told.stderr
    assert [(entry["state"], entry["refused"]) for entry in shown(tmp_path)] == [("sent", "")]


def test_refused_report_can_be_cleared(tmp_path: Path, server: Listener) -> None:
    respond(tmp_path, link(server, ONE))
    told = invoke(tmp_path, "device", "clear", link(server), "--yes")
    again = invoke(tmp_path, "respond", link(server, ONE), input="y\n")

    assert "1 of them have not arrived. If you clear them, they are never sent." in told.stderr
    assert {path.suffix for path in (tmp_path / "ledger").iterdir()} == {".json"}
    assert (again.returncode, "forgotten" in again.stderr, len(server.bodies)) == (1, True, 1)


def test_same_person_sends_the_same_bytes_with_another_link(tmp_path: Path, server: Listener) -> None:
    """Asked once, without a word of the survey; then both links show the receipt, and nothing is charged twice."""
    respond(tmp_path, link(server, ONE))
    before = len(server.captured)
    told = invoke(tmp_path, "respond", link(server, TWO), "--json", input="y\n")
    later = [invoke(tmp_path, "respond", link(server, token), "--json") for token in (ONE, TWO)]

    assert f"{SAME} Was that you?" in told.stderr
    assert "1 of 3." not in told.stderr
    assert [request.path.rpartition("/")[2] for request in server.captured[before:]] == ["reports"]
    assert (sent_with(server), len(set(server.bodies))) == ([ONE, TWO], 1)
    assert {each.stdout for each in later} == {told.stdout}
    assert sum(entry["epsilon"] for entry in shown(tmp_path)) == pytest.approx(INVITED.epsilon)
    assert "Was that you?" not in invoke(tmp_path, "respond", link(server, THREE), input=INTERVIEW).stderr


def test_another_person_gives_an_answer_of_their_own(tmp_path: Path, server: Listener) -> None:
    """Told what it would be if it was them; the first one's report stays and waits for its own link."""
    respond(tmp_path, link(server, ONE))
    told = invoke(tmp_path, "respond", link(server, TWO), input=f"n\n{INTERVIEW}")

    assert told.returncode == 0, told.stderr
    assert "a second draw would be a second look at your answers" in told.stderr
    assert told.stderr.index("Was that you?") < told.stderr.index("1 of 3.")
    assert (sent_with(server), len(set(server.bodies))) == ([ONE, TWO], 2)
    assert sorted(entry["state"] for entry in shown(tmp_path)) == ["refused", "sent"]


def test_nobody_is_taken_for_the_same_person_unasked(tmp_path: Path, server: Listener) -> None:
    respond(tmp_path, link(server, ONE))
    for told in (respond(tmp_path, link(server, TWO)), invoke(tmp_path, "respond", link(server, TWO), input="\n\n")):
        assert (told.returncode, told.stdout) == (1, "")
        assert SAME in told.stderr
    assert len(server.bodies) == len(shown(tmp_path)) == 1


@pytest.mark.parametrize("state", ["open", "closed"])
def test_who_has_answered_sees_the_receipt_with_any_link_of_the_survey(tmp_path: Path, state: str) -> None:
    with listening(honest(INVITED)) as server:
        first = respond(tmp_path, link(server, ONE), "--json")
    receipts = []
    with listening(honest(CORRECTED, INVITED, state=state)) as server:
        moved = (tmp_path / "ledger", server.url)
        _move(*moved)
        for asked in (INVITED, CORRECTED):
            receipts.append(invoke(tmp_path, "respond", link(server, ONE, asked), "--json", "--exactly"))
        assert server.captured == []
        withdrawn = invoke(tmp_path, "respond", link(server, ONE, CORRECTED), "--withdraw", "--yes")

    assert [each.stdout for each in receipts] == [first.stdout] * 2
    assert all("Cheated?" in each.stderr for each in receipts)
    assert (withdrawn.returncode, shown(tmp_path)[0]["state"]) == (0, "withdrawn")
    assert {path.suffix for path in (tmp_path / "ledger").iterdir()} == {".json"}


def _move(folder: Path, url: str) -> None:
    """The same ledger, as if the aggregator had always been at this address."""
    from sottovoce.client.file_ledger import FileLedger
    from sottovoce.client.ledger import Key

    ledger = FileLedger(folder)
    (name,) = ledger.names()
    record = ledger.read(name)
    text = ledger.text(record.entry.digest)
    ledger.erase("*")
    ledger.record(Key(url, "exam", 0, ONE), record.entry, text or b"")


def test_report_waiting_for_a_correction_is_sent_as_it_was_drawn(tmp_path: Path) -> None:
    """Drawn for revision 1 and not acknowledged; opened with the link of revision 2: the same bytes, its own words."""
    lost = always(http("200 OK", b"{}"))
    usual, corrected = honest(INVITED), honest(CORRECTED, INVITED)
    is_corrected = threading.Event()

    def answer(request: Any) -> bytes | None:
        return (corrected if is_corrected.is_set() else usual)(request)

    with listening(answer, [lost]) as server:
        respond(tmp_path, link(server, ONE))
        is_corrected.set()
        told = invoke(tmp_path, "respond", link(server, ONE, CORRECTED), "--json")

    assert (told.returncode, len(server.bodies), len(set(server.bodies))) == (0, 2, 1)
    assert json.loads(told.stdout)["digest"] == INVITED.digest


def test_receipt_is_told_in_words_without_a_network(tmp_path: Path) -> None:
    """And without words where an earlier release kept none; with a network that survey is found among all revisions."""
    with listening(honest(INVITED)) as server:
        first = respond(tmp_path, link(server, ONE), "--json")
    gone = invoke(tmp_path, "respond", link(server, ONE), "--json")
    assert gone.stdout == first.stdout
    assert "Chance had a say" in gone.stderr
    with listening(honest(CORRECTED, INVITED)) as server:
        _move(tmp_path / "ledger", server.url)
        for path in (tmp_path / "ledger").glob("*.survey"):
            path.unlink()
        found = invoke(tmp_path, "respond", link(server, ONE, CORRECTED), "--json", "--exactly")

    assert (found.stdout, "Cheated?" in found.stderr) == (first.stdout, True)
    for path in (tmp_path / "ledger").glob("*.survey"):
        path.unlink()
    with listening(always(http("400 Bad Request"))) as server:
        _move(tmp_path / "ledger", server.url)
        bare = invoke(tmp_path, "respond", link(server, ONE), "--json")

    assert (bare.returncode, bare.stdout) == (0, first.stdout)
    assert "only the sent bytes are shown" in bare.stderr
    assert "Chance had a say" not in bare.stderr


def test_first_screen_says_who_asks_and_what_becomes_of_the_data(tmp_path: Path) -> None:
    researcher = {**NAMED, "ethics": {"en": "Approved by the board."}}
    known = {"notice": {"en": "Controller: the university."}, "retention": {"delete_on": "2032-03-31"}}
    asked = survey(researcher=researcher, revision=3, **known, **WINDOW)
    with listening(honest(asked, survey(revision=2), OPEN)) as server:
        told = respond(tmp_path, link(server, asked=asked)).stderr

    for words in (
        "University of Example, Dr A. Example, ask@example.org\nExams\n", "Approved by the board.",
        "Data protection: Controller: the university.", "The survey deletes itself on 2032-03-31.",
        "This is version 3 of 3.", "Open until 2031-05-12 00:00 UTC.",
    ):  # fmt: skip
        assert words in told


def test_own_coins_are_told_of_no_dice(tmp_path: Path) -> None:
    coin, die = {"name": "coin_flip"}, {"name": "warner", "truth": "2/3"}
    told = []
    for mechanism in (coin, die):
        asks = [{**document()["questions"][0], "mechanism": mechanism}]
        asked = survey(questions=asks, privacy={"procedure": "own_coin"})
        with listening(honest(asked)) as server:
            told.append(invoke(tmp_path, "respond", link(server, asked=asked), input="1\nn\n").stderr)

    assert "You toss a coin for each private answer" in told[0]
    assert "You use a coin or a die for each private answer" in told[1]
    assert not any("dice" in each for each in told)
