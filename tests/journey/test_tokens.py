"""Surveys for invited people: from the list of links to one report for each."""

import csv
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.cli.main import main
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import BudgetExhausted, TransportError
from sottovoce.shared.report import dump_report

from tests.conftest import Running, SharedServer
from tests.journey.test_hostile_http import JSON
from tests.journey.test_kill import BACK_ENDS, PATH, served
from tests.journey.test_own_survey import invoke, sottovoce
from tests.surveys import ANSWERS, document, survey


@pytest.fixture
def invited(shared_server: SharedServer) -> Running:
    return shared_server.publish(survey(access="token"))


def make_links(folder: Path, server: Running, count: int) -> list[str]:
    """Return so many links of the server's survey, as the command writes them."""
    words = ("link", "create", server.survey.name, "--count", str(count), "--out", "links.csv")
    ended = invoke(folder, *words, "--data", str(server.data))
    assert ended.returncode == 0, ended.stderr
    with (folder / "links.csv").open(newline="") as file:
        return [row["link"] for row in csv.DictReader(file)]


def test_token_lets_one_person_send_one_report(tmp_path: Path, invited: Running) -> None:
    name, data = invited.survey.name, ("--data", str(invited.data))
    first, second, third = make_links(tmp_path, invited, 3)
    owner = Respondent.connect(first, MemoryLedger())
    receipt = owner.answer(ANSWERS)
    assert owner.send() == receipt
    (tmp_path / "revoked").write_text(second.split("&t=")[1] + "\n")
    assert invoke(tmp_path, "link", "revoke", name, "revoked", *data).returncode == 0
    for link in (first, second, first.partition("&t=")[0] + "&t=" + "0" * 16):
        with pytest.raises(TransportError) as refused:
            Respondent.connect(link, MemoryLedger()).answer(ANSWERS)
        assert (refused.value.status, refused.value.reason) == (401, "token_invalid")
    with pytest.raises(TransportError, match="token"):
        Respondent.connect(invited.link, MemoryLedger())
    Respondent.connect(third, MemoryLedger()).answer(ANSWERS)
    assert invited.reports() == 2
    counted = sottovoce(tmp_path, "link", "stats", name, *data).stdout

    # Who reads it while the survey is open sees nobody come.
    assert counted.splitlines() == ["created 3", "spent 0", "revoked 1", "unspent 2", "held 0", "held_since -"]


def test_report_refused_with_one_link_is_counted_once_with_another(tmp_path: Path, invited: Running) -> None:
    first, second = make_links(tmp_path, invited, 2)
    (tmp_path / "revoked").write_text(first.split("&t=")[1] + "\n")
    revoke = ("link", "revoke", invited.survey.name, "revoked", "--data", str(invited.data))
    assert invoke(tmp_path, *revoke).returncode == 0
    ledger = FileLedger(tmp_path / "ledger")
    with pytest.raises(TransportError):
        Respondent.connect(first, ledger).answer(ANSWERS)
    with pytest.raises(BudgetExhausted, match="was that you"):
        Respondent.connect(second, ledger).answer(ANSWERS)
    receipt = Respondent.connect(second, ledger).resume()
    again = [Respondent.connect(link, ledger).receipt for link in (first, second)]

    assert invited.reports() == 1
    assert again == [receipt, receipt]


@pytest.mark.parametrize("fresh", BACK_ENDS.values(), ids=BACK_ENDS)
def test_token_offered_64_times_at_once_is_spent_once(tmp_path: Path, fresh: Callable[[], str]) -> None:
    asked = survey(access="token")
    with served(tmp_path / "data", fresh(), asked) as server:
        storage = server.storage()
        (token,) = create_tokens(storage, "exam", 1)
        bodies = [dump_report(randomize(asked, encode(asked, ANSWERS), Draws()), asked) for _ in range(64)]

        def send(number: int) -> str:
            if number % 2:
                item = b'{"report":' + bodies[number].rstrip() + b',"token":"' + token.encode() + b'"}'
                body = b'{"format":"sottovoce-batch/1","items":[' + item + b"]}"
                reply = requests.post(f"{server.url}{PATH}/batch", data=body, headers=JSON, timeout=30)
                return str(reply.json()["items"][0].get("code", "stored"))
            headers = {**JSON, "Authorization": f"Bearer {token}"}
            reply = requests.post(f"{server.url}{PATH}", data=bodies[number], headers=headers, timeout=30)
            return str(reply.json().get("code", "stored"))

        with ThreadPoolExecutor(32) as pool:
            outcomes = Counter(pool.map(send, range(64)))
        assert outcomes == {"stored": 1, "token_invalid": 63}
        assert storage.surveys()[0].reports == 1
        assert storage.token_counts(1) == (1, 1, 0, 0, 0, None)
        storage.close()


def test_no_token_is_stored_or_made_for_an_open_survey(tmp_path: Path, invited: Running, running: Running) -> None:
    tokens = [link.split("&t=")[1] for link in make_links(tmp_path, invited, 20)]
    content = b"".join(path.read_bytes() for path in invited.data.rglob("*") if path.is_file())
    again, refused = (
        invoke(tmp_path, "link", "create", server.survey.name, "--count", "1", "--data", str(server.data), *out)
        for server, out in ((invited, ("--out", "links.csv")), (running, ()))
    )

    assert not any(token.encode() in content for token in tokens)
    assert len(set(tokens)) == 20
    assert (tmp_path / "links.csv").stat().st_mode & 0o077 == 0
    assert (again.returncode, refused.returncode) == (1, 1)
    assert "access: token" in refused.stderr


def test_token_in_the_link_of_an_open_survey_buys_no_second_draw(running: Running) -> None:
    ledger = MemoryLedger()
    first = Respondent.connect(running.link, ledger).answer(ANSWERS)
    second = Respondent.connect(f"{running.link}&t={'7' * 16}", ledger).answer(ANSWERS)
    assert first == second
    assert running.reports() == 1


def test_links_are_for_the_address_that_is_served(running: Running, tmp_path: Path) -> None:
    """Of a correction that is published beside the running server, and of its tokens: it listens on no usual port."""
    path = tmp_path / "invited.json"
    path.write_bytes(dump(document(name="invited", access="token")))
    data = ["--data", str(running.data)]
    published = CliRunner().invoke(main, ["survey", "publish", str(path), *data])
    made = CliRunner().invoke(main, ["link", "create", "invited", "--count", "1", *data])

    assert published.stdout.startswith(f"{running.url}/s/invited#d=")
    assert f",{running.url}/s/invited#d=" in made.stdout
    assert requests.get(published.stdout.partition("#")[0], timeout=15).status_code == 200
