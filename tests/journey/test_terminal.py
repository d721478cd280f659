"""Answering, interrupting, killing, withdrawing and forgetting in the terminal, with real processes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Running, SharedServer
from tests.journey.test_own_survey import invoke, sottovoce
from tests.listener import Held, Listener, always, honest, http, listening
from tests.surveys import ANSWERS, document, months, survey

ASKED = survey()
PAGE = Path(__file__).parents[2] / "docs" / "for_respondents.md"
SENTINEL = "sentinel_7731"


@pytest.fixture
def server() -> Iterator[Listener]:
    """An honest aggregator that keeps what it is sent."""
    with listening(honest(ASKED)) as listener:
        yield listener


def link_of(server: Listener) -> str:
    return f"{server.url}/s/exam#d={ASKED.digest[:32]}"


def started(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """The command as a process that can be interrupted."""
    environment = {**os.environ, "HOME": str(folder), "SOTTOVOCE_LEDGER": str(folder / "ledger")}
    return subprocess.Popen(
        [sys.executable, "-m", "sottovoce.cli", *words], cwd=folder, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=1,
    )  # fmt: skip


def answers(folder: Path, given: Any = ANSWERS) -> str:
    (folder / "answers.json").write_text(json.dumps(given))
    return str(folder / "answers.json")


def shown(folder: Path) -> list[dict[str, Any]]:
    told = json.loads(invoke(folder, "device", "show", "--json", "--reports").stdout)
    return [report for origin in told["origins"] for report in origin["reports"]]


def test_protection_odds_and_costs_come_before_the_first_question(tmp_path: Path, running: Running) -> None:
    told = invoke(tmp_path, "respond", running.link, input="2\n2\n2\ny\n").stderr
    before = told[: told.index("1 of 3")]

    for words in (
        "Your device rolls dice for each.",
        "If yes is true, 75 of 100 people send yes", "Epsilon 1.10",
        "is at most 25% sure after one private answer, 50% after all.",
        "epsilon 2.20 in total", "You allow 3 for one question and 8 in total", "cost epsilon 0.00; with these answers",
        "Sent unchanged; divides the results into groups.", "The people who run this survey can see",
    ):  # fmt: skip
        assert words in before
    assert "Send?" in told


def test_survey_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    """A label that a terminal obeys would rewrite the odds on the screen."""
    questions = document()["questions"]
    questions[0]["label"]["en"] = "Cheated?\x9b2J\x7f Nothing is sent\u202e"
    asked = survey(questions=questions, consent={"en": "Fine\nprint\x9b1A\u2066"})
    with listening(honest(asked)) as server:
        told = invoke(tmp_path, "respond", f"{server.url}/s/exam", input="1\n1\n1\ny\n")

    assert (told.returncode, len(server.bodies)) == (0, 1)
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told.stderr) == []
    assert "Fine\nprint" in told.stderr


def test_answer_can_be_given_again_before_sending(tmp_path: Path, running: Running) -> None:
    """Question 3 is public: the value sent is the second answer."""
    told = invoke(tmp_path, "respond", running.link, "--json", input="2\n2\n1\n9\n3\n2\ny\n")

    assert told.returncode == 0, told.stderr
    assert json.loads(json.loads(told.stdout)["body"])["values"][2] == 1
    assert "Answer y, n, or 1 to 3" in told.stderr


def test_refusal_at_the_end_leaves_nothing(tmp_path: Path, running: Running) -> None:
    told = invoke(tmp_path, "respond", running.link, input="2\n2\n2\nn\n")

    assert (told.returncode, told.stdout, running.reports()) == (1, "", 0)
    assert "Nothing was drawn, sent or stored." in told.stderr
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize("given", ["", "2\n", "2\n2\n2\n"])
def test_end_of_input_leaves_nothing(tmp_path: Path, server: Listener, given: str) -> None:
    told = invoke(tmp_path, "respond", link_of(server), input=given)

    assert (told.returncode, told.stdout, server.bodies) == (1, "", [])
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize(("given", "prompt"), [("", "Your answer"), ("2\n2\n2\n", "Send?")])
def test_interrupt_leaves_nothing(tmp_path: Path, server: Listener, given: str, prompt: str) -> None:
    process = started(tmp_path, "respond", link_of(server))
    assert process.stdin
    assert process.stderr
    process.stdin.write(given)
    process.stdin.flush()
    told = ""
    while prompt not in told:
        told += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=30)

    assert (process.returncode, out, server.bodies) == (1, "", [])
    assert "Traceback" not in rest
    assert not (tmp_path / "ledger").exists()


def test_answers_from_a_file_need_no_terminal(tmp_path: Path, running: Running) -> None:
    file = Path(answers(tmp_path))
    before = file.read_bytes()
    told = invoke(tmp_path, "respond", running.link, "--answers", str(file), "--yes", "--json")
    receipt = json.loads(told.stdout)

    assert receipt["format"] == "sottovoce-receipt/1"
    assert receipt["digest"] == running.survey.digest
    assert json.loads(receipt["body"])["values"][2] == 1
    assert "still holds your true answers: delete it" in told.stderr
    assert (file.read_bytes(), running.reports()) == (before, 1)


def test_answers_from_a_pipe_are_on_no_disk(tmp_path: Path, running: Running) -> None:
    piped = json.dumps(ANSWERS)
    asked = sottovoce(tmp_path, "respond", running.link, "--answers", "-", input=piped)
    sent = sottovoce(tmp_path, "respond", running.link, "--answers", "-", "--yes", input=piped)

    assert (asked.returncode, sent.returncode, running.reports()) == (1, 0, 1)
    assert "delete" not in sent.stderr


@pytest.mark.parametrize(
    "given",
    [{**ANSWERS, "cheated": SENTINEL}, {**ANSWERS, SENTINEL: "yes"}, {"cheated": SENTINEL},
     {**ANSWERS, "reason": 77.31}, {**ANSWERS, "reason": [SENTINEL]}, [SENTINEL], SENTINEL, None,
     {**ANSWERS, "year": {SENTINEL: 1}}],
    ids=str,
)  # fmt: skip
def test_bad_file_of_answers_draws_nothing_and_is_not_repeated(tmp_path: Path, server: Listener, given: Any) -> None:
    file = answers(tmp_path, given)
    told = invoke(tmp_path, "respond", link_of(server), "--answers", file, "--yes")

    assert (told.returncode, told.stdout, server.bodies) == (1, "", [])
    assert SENTINEL not in told.stderr
    assert "7731" not in told.stderr
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [(("--allow-question", "1"), 1), (("--allow-total", "2.1"), 1), (("--allow-total", "nan"), 1),
     (("--allow-total", "-1"), 2), (("--allow-question", "much"), 2), (("--allow-question", "1.1"), 0)],
    ids=str,
)  # fmt: skip
def test_allowance_is_the_respondents(tmp_path: Path, server: Listener, options: tuple[str, ...], code: int) -> None:
    file = answers(tmp_path)
    told = invoke(tmp_path, "respond", link_of(server), *options, "--answers", file, "--yes")

    assert (told.returncode, len(server.bodies)) == (code, int(code == 0))
    assert code != 1 or "more than the" in told.stderr
    assert code == 0 or "Questions" not in told.stderr


def test_second_run_asks_nothing_and_sends_nothing(tmp_path: Path) -> None:
    with listening(honest(ASKED)) as server:
        first = invoke(tmp_path, "respond", link_of(server), "--answers", answers(tmp_path), "--yes", "--json")
        again = invoke(tmp_path, "respond", link_of(server), "--json")

    assert again.stdout == first.stdout
    assert len(server.bodies) == 1
    assert "not drawn a second time" in again.stderr


def test_withdrawn_report_leaves_the_aggregator_and_is_not_drawn_again(tmp_path: Path, running: Running) -> None:
    refused = invoke(tmp_path, "respond", running.link, "--withdraw", "--yes")
    assert (refused.returncode, "nothing to withdraw" in refused.stderr) == (1, True)
    invoke(tmp_path, "respond", running.link, "--answers", answers(tmp_path), "--yes")
    assert running.reports() == 1
    unsure = invoke(tmp_path, "respond", running.link, "--withdraw", input="n\n")
    assert (unsure.returncode, running.reports()) == (1, 1)
    # The link needs no digest: the report is known by its own number.
    (before,) = shown(tmp_path)
    told = invoke(tmp_path, "respond", running.link.split("#")[0], "--withdraw", "--yes", "--json")
    twice = invoke(tmp_path, "respond", running.link, "--withdraw", "--yes")
    again = invoke(tmp_path, "respond", running.link, "--answers", answers(tmp_path), "--yes")
    (entry,) = shown(tmp_path)

    assert (told.returncode, running.reports()) == (0, 0)
    assert json.loads(told.stdout)["report_id"] == json.loads(before["report"])["report_id"]
    assert (twice.returncode, "Withdrawn" in twice.stderr) == (0, True)
    assert (entry["state"], entry["epsilon"]) == ("withdrawn", pytest.approx(ASKED.epsilon))
    assert (again.returncode, "withdrawn" in again.stderr, again.stdout) == (1, True, "")


def test_ledger_shows_costs_and_no_report_unless_asked(tmp_path: Path) -> None:
    assert "remembers no report" in invoke(tmp_path, "device", "show").stderr
    with listening(honest(ASKED)) as one, listening(honest(ASKED)) as two:
        for server in (one, two):
            invoke(tmp_path, "respond", link_of(server), "--answers", answers(tmp_path), "--yes")
    told = invoke(tmp_path, "device", "show")
    asked = invoke(tmp_path, "device", "show", "--reports")
    document = json.loads(invoke(tmp_path, "device", "show", "--json").stdout)

    assert told.stdout.count("epsilon 2.20 in total") == 2
    assert told.stdout.count("exam, wave 0: epsilon 2.20, sent") == 2
    assert "report_id" not in told.stdout + json.dumps(document)
    assert asked.stdout.count("report_id") == 2
    assert document["format"] == "sottovoce-ledger/1"
    assert [origin["epsilon"] for origin in document["origins"]] == [pytest.approx(ASKED.epsilon)] * 2


def test_cleared_report_is_gone_and_not_drawn_again(tmp_path: Path) -> None:
    with listening(honest(ASKED)) as server:
        respond = ("respond", link_of(server), "--answers", answers(tmp_path), "--yes")
        invoke(tmp_path, *respond)
        report_id = json.loads(server.bodies[0])["report_id"]
        unsure = invoke(tmp_path, "device", "clear", input="n\n")
        assert (unsure.returncode, shown(tmp_path)[0]["state"]) == (1, "sent")
        assert invoke(tmp_path, "device", "clear", "other", "--yes").returncode == 1
        assert invoke(tmp_path, "device", "clear", "exam", "--yes").returncode == 0
        kept = "".join(path.read_text() for path in (tmp_path / "ledger").iterdir())
        again = invoke(tmp_path, *respond)
        assert (report_id in kept, shown(tmp_path)[0]["state"]) == (False, "forgotten")
        assert (again.returncode, "forgotten" in again.stderr, len(server.bodies)) == (1, True, 1)

        told = invoke(tmp_path, "device", "clear", link_of(server), "--everything", input="y\n")
        assert "epsilons of both add up" in told.stderr
        assert list((tmp_path / "ledger").iterdir()) == []
        assert invoke(tmp_path, *respond).returncode == 0
        assert len(set(server.bodies)) == 2


def test_memo_is_one_line_of_the_ledger_and_can_be_cleared(tmp_path: Path) -> None:
    flip = {"name": "coin_flip"}
    boolean = document()["questions"][0]
    memoized = {"name": "memoized_rr", "permanent": flip, "instantaneous": flip, "waves": 3}
    asked = survey(questions=[{**boolean, "mechanism": memoized}], waves=months(3))
    given = answers(tmp_path, {"cheated": "yes"})
    with listening(honest(asked)) as server:
        link = f"{server.url}/s/exam#d={asked.digest[:32]}"
        first = invoke(tmp_path, "respond", link, "--answers", given, "--yes")
        second = invoke(tmp_path, "respond", f"{link}&w=1", "--answers", given, "--yes")
        entries = {report["wave"]: report for report in shown(tmp_path)}
        assert f"epsilon {asked.epsilon:.2f}" in first.stderr
        assert "with these answers it is 1.36." in second.stderr
        assert "Each time you answer again adds epsilon 0.00." in second.stderr
        assert [(wave, entry["state"], entry["epsilon"] > 0) for wave, entry in entries.items()] == [
            (None, "memo", True), (0, "sent", False), (1, "sent", False),
        ]  # fmt: skip
        assert "report" not in entries[None]
        assert "exam, all waves: epsilon 1.36, memo" in invoke(tmp_path, "device", "show", "--reports").stdout

        told = invoke(tmp_path, "device", "clear", "exam", "--yes")
        third = invoke(tmp_path, "respond", f"{link}&w=2", "--answers", given, "--yes")
        assert "cannot answer further waves" in told.stderr
        assert (third.returncode, "no other is drawn" in third.stderr, len(server.bodies)) == (1, True, 2)
        assert invoke(tmp_path, "device", "clear", "--everything", "--yes").returncode == 0
        assert list((tmp_path / "ledger").iterdir()) == []


def test_withdrawal_leaves_the_memo(tmp_path: Path, shared_server: SharedServer) -> None:
    """Each wave's report is withdrawn; what is remembered for all waves was never sent, and still counts."""
    flip = {"name": "coin_flip"}
    memoized = {"name": "memoized_rr", "permanent": flip, "instantaneous": flip, "waves": 2}
    asked = survey(
        questions=[{**document()["questions"][0], "mechanism": memoized}],
        waves=[{"opens": "2001-01-01T00:00:00Z", "closes": "2999-01-01T00:00:00Z"}],
    )
    site = shared_server.publish(asked)
    invoke(tmp_path, "respond", site.link, "--answers", answers(tmp_path, {"cheated": "no"}), "--yes")
    told = invoke(tmp_path, "respond", site.link, "--withdraw", "--yes")
    assert (told.returncode, site.reports()) == (0, 0)
    assert {report["wave"]: report["state"] for report in shown(tmp_path)} == {None: "memo", 0: "withdrawn"}


def test_set_of_questions_is_told_and_kept(tmp_path: Path) -> None:
    boolean = document()["questions"][0]
    asked = survey(questions=[{**boolean, "name": f"q{n}", "label": {"en": f"Topic {n}?"}} for n in range(8)], ask=2)
    with listening(honest(asked)) as server:
        link = f"{server.url}/s/exam"
        runs = [invoke(tmp_path, "respond", link, input=given) for given in ("1\n1\nn\n", "2\n", "1\n2\ny\n")]

    told = [tuple(dict.fromkeys(re.findall(r"Topic \d", run.stderr))) for run in runs[:2]]
    assert told[0] == told[1]
    assert len(told[0]) == 2
    assert "Nothing is stored then except which questions you were asked" in runs[0].stderr
    assert "Nothing was drawn, sent or stored except which questions you were asked." in runs[0].stderr
    assert [value is None for value in json.loads(server.bodies[0])["values"]].count(False) == 2
    assert invoke(tmp_path, "device", "clear", "--everything", "--yes").returncode == 0
    assert list((tmp_path / "ledger").iterdir()) == []


def test_damaged_file_is_named_and_blocks_its_own_survey_only(tmp_path: Path) -> None:
    """It may stand for a report already sent; the respondent is told which file, and what to do."""
    with listening(honest(ASKED)) as one, listening(honest(ASKED)) as two:
        invoke(tmp_path, "respond", link_of(one), "--answers", answers(tmp_path), "--yes")
        (file,) = (tmp_path / "ledger").glob("*.json")
        file.write_text("{")
        again = invoke(tmp_path, "respond", link_of(one), "--answers", answers(tmp_path), "--yes")
        other = invoke(tmp_path, "respond", link_of(two), "--answers", answers(tmp_path), "--yes")

        assert (again.returncode, other.returncode, len(one.bodies)) == (1, 0, 1)
        assert "cannot be read" in again.stderr
        assert file.name in again.stderr
        assert "damaged file" in other.stderr
        assert file.name in invoke(tmp_path, "device", "show").stderr
        assert invoke(tmp_path, "device", "clear", "--everything", "--yes").returncode == 0
    assert list((tmp_path / "ledger").iterdir()) == []


def killed_after_record(folder: Path, server: Listener, moment: str) -> None:
    """Start to answer, and kill the process when the report stands in the ledger, or when it has arrived."""
    process = started(folder, "respond", link_of(server), "--answers", answers(folder), "--yes")
    if moment == "arrived":
        server.wait(1)
    else:
        while not list((folder / "ledger").glob("*.json")):
            assert process.poll() is None
            time.sleep(0.01)
    process.kill()
    process.communicate(timeout=30)


@pytest.mark.parametrize("moment", ["recorded", "arrived"])
@pytest.mark.parametrize("way", ["device send", "respond"])
def test_killed_process_leaves_one_report_that_is_sent_later(tmp_path: Path, moment: str, way: str) -> None:
    held = Held()
    with listening(honest(ASKED), [held]) as server:
        killed_after_record(tmp_path, server, moment)
        server.behave()
        held.let_go()
        (entry,) = shown(tmp_path)
        assert entry["state"] == "unsent"
        words = ("device", "send") if way == "device send" else ("respond", link_of(server))
        assert invoke(tmp_path, *words).returncode == 0
        assert {body.decode().rstrip() for body in server.bodies} == {entry["report"]}
        assert shown(tmp_path)[0]["state"] == "sent"
        assert "No report is waiting" in invoke(tmp_path, "device", "send").stderr


@pytest.mark.slow
def test_thirty_kills_draw_once_each(tmp_path: Path) -> None:
    """At any moment: whoever comes back finds the one report or none, and the aggregator never sees two."""
    for number in range(30):
        folder = tmp_path / str(number)
        folder.mkdir()
        with listening(honest(ASKED)) as server:
            process = started(folder, "respond", link_of(server), "--answers", answers(folder), "--yes")
            # Every 40 ms of the second that a whole answer takes.
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.04 * number)
            process.kill()
            process.communicate(timeout=30)
            sottovoce(folder, "device", "send")
            assert sottovoce(folder, "respond", link_of(server), "--answers", "answers.json", "--yes").returncode == 0
            assert len(set(server.bodies)) == 1
            assert sorted(path.suffix for path in (folder / "ledger").iterdir()) == [".json", ".survey"]


def test_unsent_report_waits_and_the_exit_code_tells(tmp_path: Path) -> None:
    """`device send` tries a refused one once more; one that was drawn for a token needs its link, and is sent by it."""
    token = "0123456789ABCDEF"
    invited = survey(access="token")
    closed = always(http("409 Conflict", b'{"code":"closed"}'))
    with listening(honest(ASKED), [closed] * 2) as one, listening(honest(invited), [closed]) as two:
        words = ("--answers", answers(tmp_path), "--yes")
        refused = invoke(tmp_path, "respond", link_of(one), *words)
        invitation = invoke(tmp_path, "respond", f"{two.url}/s/exam#t={token}", *words)
        assert "does not name a version of the survey" in invitation.stderr
        assert "does not name a version" not in refused.stderr
        told = invoke(tmp_path, "device", "send", "--json")
        found = json.loads(told.stdout)

        assert (refused.returncode, "kept on this device" in refused.stderr) == (1, True)
        assert (told.returncode, found["sent"], len(found["waiting"])) == (1, [], 2)
        assert [(entry["state"], entry["refused"]) for entry in found["waiting"]] == [("refused", "closed")] * 2
        assert any("needs the token of its link" in entry["reason"] for entry in found["waiting"])
        assert token not in told.stdout + told.stderr + "".join(p.read_text() for p in (tmp_path / "ledger").iterdir())
        assert invoke(tmp_path, "respond", f"{two.url}/s/exam#t={token}", input="y\n").returncode == 0
        assert invoke(tmp_path, "device", "send").returncode == 0
        assert (len(set(one.bodies)), len(set(two.bodies))) == (1, 1)


def test_five_lines_of_the_documentation_run_as_they_stand(tmp_path: Path, running: Running) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    program = re.sub(r'"https://[^"]*"', json.dumps(running.link), code).replace('"pressure"', '"fear"')
    environment = {**os.environ, "SOTTOVOCE_LEDGER": str(tmp_path / "ledger")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=60
    )

    assert len([line for line in code.splitlines() if line.strip()]) <= 5
    assert running.reports() == 1
    assert shown(tmp_path)[0]["report"] == done.stdout.split("  ")[0].split(" ")[0].rstrip()
