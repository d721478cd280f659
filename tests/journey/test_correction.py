"""A correction in the middle of a survey, over a real server: every link that was handed out goes on working."""

import json
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click
import pytest
import requests
from click.testing import CliRunner
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.aggregator.surveys.lifecycle import next_revision
from sottovoce.cli.main import main
from sottovoce.cli.process import free_port
from sottovoce.client.draws import Draws
from sottovoce.client.link import parse_link
from sottovoce.client.respondent import encode, randomize
from sottovoce.client.revisions import standing, survey_for
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import TransportError
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Survey

from tests.conftest import Running
from tests.journey.test_kill import BACK_ENDS, served
from tests.journey.test_own_survey import invoke
from tests.surveys import ANSWERS, document, survey

INVITED = survey(access="token")
SECOND = {"access": "token", "revision": 2, "title": {"en": "Examinations"}}


def answer(transport: Transport, asked: Survey, token: str) -> dict[str, object]:
    body = dump_report(randomize(asked, encode(asked, ANSWERS), Draws()), asked)
    return transport.submit(asked.name, body, token)


@pytest.mark.parametrize("fresh", BACK_ENDS.values(), ids=BACK_ENDS)
def test_old_links_and_tokens_outlive_a_correction(tmp_path: Path, fresh: Callable[[], str]) -> None:
    """Who has the link of the first revision is asked the first one, told that it is open, and counted."""
    with served(tmp_path / "data", fresh(), INVITED) as server:
        storage = server.storage()
        tokens = create_tokens(storage, "exam", 3)
        links = [parse_link(f"{server.url}/s/exam#d={INVITED.digest[:32]}&t={token}") for token in tokens]
        transport = Transport(server.url)
        answer(transport, survey_for(transport, links[0]), links[0].token)

        second = next_revision(storage, survey(**SECOND))
        storage.publish(second)
        asked = survey_for(transport, links[1])
        status = transport.fetch_status("exam")
        assert asked == INVITED
        assert survey_for(transport, parse_link(f"{server.url}/s/exam#d={second.digest[:32]}")) == second
        assert status is not None
        assert standing(status, asked, 0) is not None
        assert [transport.check_token("exam", link.token) for link in links] == [False, True, True]
        answer(transport, asked, links[1].token)
        answer(transport, second, links[2].token)
        with pytest.raises(TransportError) as refused:
            answer(transport, second, links[1].token)
        assert refused.value.reason == "token_invalid"
        assert [transport.check_token("exam", link.token) for link in links] == [False] * 3
        assert [row.reports for row in storage.revisions("exam")] == [2, 1]

        storage.close_survey("exam", 20_600)
        assert soon(lambda: state(transport, asked) == "closed")
        assert survey_for(transport, links[0]) == INVITED
        storage.close()


def state(transport: Transport, asked: Survey) -> str:
    found = standing(transport.fetch_status("exam") or {}, asked, 0)
    return "" if found is None else found.state


def soon(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold: a node tells for a second what it read."""
    until = time.monotonic() + 20
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def test_every_device_is_told_the_same(running: Running) -> None:
    """Whatever comes with the request - another agent, language, address, cookie: the same bytes and headers."""
    with closing(running.storage()) as storage:
        storage.publish(next_revision(storage, survey(name=running.survey.name, revision=2)))
    asks = [
        {}, {"User-Agent": "one"}, {"Accept-Language": "de"}, {"Cookie": "who=me"}, {"Referer": "https://x.example"},
        {"X-Forwarded-For": "203.0.113.7"}, {"Origin": "https://x.example"}, {"Authorization": "Bearer me"},
    ]  # fmt: skip
    for end in ("", "/revisions", "/status"):
        replies = [requests.get(f"{running.api}{end}", headers=headers, timeout=10) for headers in asks]
        heads = {str(sorted({**each.headers, "date": ""}.items())) for each in replies}
        assert len({(each.status_code, each.content) for each in replies}) == len(heads) == 1


def test_publish_fills_in_the_chain_whatever_publishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 3):
        (tmp_path / f"{number}.json").write_text(json.dumps(document(revision=number)), encoding="utf-8")
    published = [invoke(tmp_path, "survey", "publish", f"{number}.json", "--data", "data") for number in (1, 2, 2)]
    assert [each.returncode for each in published] == [0] * 3
    assert published[1].stdout == published[2].stdout
    refused = tmp_path / "4.json"
    refused.write_text(json.dumps(document(revision=4, access="token")), encoding="utf-8")
    ended = invoke(tmp_path, "survey", "publish", "4.json", "--data", "data")
    assert ended.returncode == 1
    assert "/access: cannot change" in ended.stderr

    first = survey()
    second = survey(revision=2, replaces=first.digest)
    third = survey(revision=3, replaces=second.digest)
    links = [each.stdout.split("#d=")[1].strip() for each in published]
    assert links == [each.digest[:32] for each in (first, second, second)]
    with monkeypatch.context() as patch:
        patch.setattr("sottovoce.cli.serve.run", lambda _settings, lines: click.echo("\n".join(lines), err=True))
        for _ in range(2):
            words = ["serve", str(tmp_path / "3.json"), "--data", str(tmp_path / "data"), "--port", str(free_port())]
            started = CliRunner().invoke(main, words)
            assert started.exit_code == 0, started.stderr
            assert third.digest[:32] in started.stderr
