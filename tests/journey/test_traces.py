"""What the aggregator leaves on the disk: nothing that says who answered, when, or in which order."""

import json
import re
import resource
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import closing
from html import unescape
from http.cookiejar import Cookie
from pathlib import Path

import pytest
import requests
from requests.cookies import RequestsCookieJar
from sottovoce.aggregator.accounts.authentication import key_hash, new_key, new_link
from sottovoce.aggregator.intake.request_limits import UNBELIEVED
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import AccountInvitation, BoardView
from sottovoce.aggregator.storage.audit_log.events import KEY_MADE, LOGIN
from sottovoce.aggregator.storage.sqlite.storage import PAGE_BYTES, SQLiteStorage
from sottovoce.cli.database import ADDRESS
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.report import dump_report

from tests.conftest import Running, processes
from tests.journey.test_collection import batch, reports, withdrawal
from tests.journey.test_hostile_http import JSON
from tests.journey.test_kill import PATH, Server, served
from tests.software_authenticator import SoftwareAuthenticator
from tests.surveys import ANSWERS, survey

MARK = "7f3a9c"
MARKS = {
    "User-Agent": f"agent-{MARK}",
    "Cookie": f"name=cookie-{MARK}",
    "Referer": f"http://referrer-{MARK}.example/",
    "X-Forwarded-For": "203.0.113.77",
    "Forwarded": "for=203.0.113.77",
    "Authorization": f"Bearer token-{MARK}",
}
QUERY = f"?q=query-{MARK}"


def files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def post(server: Server, path: str, body: bytes) -> int:
    return requests.post(server.url + path + QUERY, data=body, headers={**JSON, **MARKS}, timeout=30).status_code


def backup(server: Server, path: Path) -> None:
    storage = SQLiteStorage(server.folder / "sottovoce.sqlite")
    storage.backup(path)
    storage.close()


def test_two_hundred_reports_leave_no_mark_and_no_order(tmp_path: Path) -> None:
    """Seven kinds of marks (address, agent, cookie, referrer, query, token, moment) are in no file."""
    with served(tmp_path / "data") as server:
        log = tmp_path / "data.log"
        # The last line of what it says of itself comes once it answers, beside the first requests.
        while not (before := log.read_bytes()).endswith(b"SOTTOVOCE_TRUSTED_HOSTS.\n"):
            time.sleep(0.1)
        started = int(time.time())
        bodies = reports(200)
        assert {post(server, PATH, body) for body in bodies} == {200}
        ended = int(time.time())
        backup(server, tmp_path / "saved")
        found = files(tmp_path)
        # Whoever sends reports that are stored writes no line, but for the one that a proxy is not believed, told once.
        assert log.read_bytes().removeprefix(before).decode() in {"", f"{UNBELIEVED}\n"}
        own = (server.folder / ADDRESS).read_bytes()
        storage = SQLiteStorage(server.folder / "sottovoce.sqlite")
        stored = [bytes(row[1]).hex() for row in storage.export_table("reports")]
        storage.close()

    assert found.count(b"SQLite format 3") >= 2
    for mark in (MARK, "203.0.113.77", "127.0.0.1", *(str(second) for second in range(started, ended + 1))):
        assert mark.encode() not in found.replace(before, b"").replace(own, b"")
    ranks = [stored.index(json.loads(body)["report_id"]) for body in bodies]
    assert abs(correlation(ranks)) < 0.35


def test_refusals_and_failures_leave_no_mark_either(tmp_path: Path) -> None:
    """What the program writes when something is wrong names neither whoever sent it nor what was sent."""
    with served(tmp_path / "data") as server:
        bodies = reports(3)
        sent = [
            post(server, PATH, b'{"mark":"' + MARK.encode() + b'"}'),
            post(server, f"{PATH}/{MARK}", bodies[0]),
            post(server, f"/api/v1/surveys/{MARK}/reports", bodies[0]),
            post(server, PATH, MARK.encode() * 20_000),
            post(server, f"/api/v1/surveys/exam/{MARK}", b"{}"),
        ]
        # Room for the program's own log, but not for one page of the database's.
        for pid in processes(server.url):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (PAGE_BYTES, resource.RLIM_INFINITY))
        sent += [post(server, PATH, body) for body in bodies]
        for pid in processes(server.url):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert sent == [400, 404, 404, 413, 404, 503, 503, 503]
        found = files(tmp_path)

    assert b"storage: the database is unavailable" in found
    for mark in (MARK, "203.0.113.77", *(json.loads(body)["report_id"] for body in bodies)):
        assert mark.encode() not in found


def test_deleted_ids_are_in_no_file_and_no_new_backup(tmp_path: Path) -> None:
    with served(tmp_path / "data") as server:
        bodies = reports(60)
        ids = [bytes.fromhex(json.loads(body)["report_id"]) for body in bodies]
        assert post(server, f"{PATH}/batch", batch(bodies)) == 200
        for body in bodies[:30]:
            assert post(server, "/api/v1/surveys/exam/withdraw", withdrawal(body)) == 200
        backup(server, tmp_path / "data" / "first")
        found = files(tmp_path)
        assert [one in found for one in ids] == [False] * 30 + [True] * 30
        (tmp_path / "data" / "first").unlink()
        storage = SQLiteStorage(server.folder / "sottovoce.sqlite")
        storage.close_survey("exam", 20_000)
        storage.purge(1)
        assert storage.surveys()[0].reports == 30
        storage.close()
        backup(server, tmp_path / "data" / "second")
        found = files(tmp_path)

    assert not any(one in found or one.hex().encode() in found for one in ids)


def test_no_key_of_a_researcher_is_in_any_file(own_server: Running) -> None:
    browser = requests.Session()
    reply = browser.post(
        f"{own_server.url}/dashboard/login",
        data={"token": own_server.token},
        headers={"Sec-Fetch-Site": "same-origin"},
        timeout=15,
    )
    session = browser.cookies["sottovoce"]
    (link, linked), (invited, invitation), (board, view) = new_link(), new_link(), new_link()
    with closing(own_server.storage()) as storage:
        [account] = storage.access.accounts()
        storage.access.add_invitation(AccountInvitation(linked, "", "", account.id, 30_000))
        storage.access.add_invitation(AccountInvitation(invitation, "exam", "viewer", None, 30_000))
        storage.access.add_view(BoardView(view, "exam", own_server.survey.digest, False, 30_000))
    found = files(own_server.data.parent)

    assert (reply.status_code, len(session) > 40) == (200, True)
    assert all(digest in found for digest in (key_hash(session), key_hash(own_server.token), linked, invitation, view))
    assert not any(secret.encode() in found for secret in (own_server.token, session, link, invited, board))


def test_what_staff_and_people_do_leaves_no_mark_in_any_table(tmp_path: Path) -> None:
    asked = survey(access="token")
    with served(tmp_path / "data", published=asked) as server:
        with closing(server.storage()) as storage:
            secrets = [*new_researcher(storage), *create_tokens(storage, "exam", 2)]
        key, invitation, *tokens = secrets
        staff = requests.Session()
        staff.headers.update({name: value for name, value in MARKS.items() if name not in {"Cookie", "Authorization"}})
        assert act(staff, server, "login", token=key).url.endswith("/dashboard/")
        made = act(staff, server, "me/keys", label="mine", days="9", survey="*", scope="metrics:read")
        secrets += [staff.cookies["sottovoce"], *re.findall(r"sottovoce-key-[\w-]+", made.text)]
        assert len(secrets) == 6
        act(staff, server, "new", **{"from": "empty", "title": "Written by Ann"})
        act(staff, server, f"login{QUERY}", token=MARK)
        act(requests.Session(), server, f"invitation?link={invitation}", name="Ben")
        answers = encode(asked, ANSWERS)
        bodies = [dump_report(randomize(asked, answers, Draws()), asked) for _ in tokens]
        for body, token in zip(bodies, tokens, strict=True):
            headers = {**JSON, **MARKS, "Authorization": f"Bearer {token}"}
            assert requests.post(server.url + PATH, data=body, headers=headers, timeout=30).status_code == 200
        metrics = requests.get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {key}"}, timeout=30)
        journal = staff.get(f"{server.url}/dashboard/journal", timeout=30)
        assert (metrics.status_code, journal.status_code) == (200, 200)
        with closing(server.storage()) as storage:
            [draft] = storage.drafts.drafts()
            assert {account.name for account in storage.access.accounts()} >= {"ann", "Ben"}
            told = [entry.what for entry in storage.journal.entries()]
        assert {LOGIN, KEY_MADE} <= {*told}
        found = files(tmp_path)

    ids = [json.loads(body)["report_id"] for body in bodies]
    public = metrics.content + journal.content + (tmp_path / "data.log").read_bytes()
    assert draft.name.encode() in found
    assert [mark for mark in (*secrets, MARK, "203.0.113.77") if mark.encode() in found + public] == []
    assert b"127.0.0.1" not in metrics.content + journal.content
    assert [one for one in ids if one.encode() in public] == []


def test_signing_in_by_a_passkey_leaves_no_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_SIGN_IN_METHODS", "key passkey")
    monkeypatch.setenv("SOTTOVOCE_PUBLIC_URL", "https://survey.example.org")
    device = SoftwareAuthenticator("https://survey.example.org", "survey.example.org")
    with served(tmp_path / "data") as server:
        with closing(server.storage()) as storage:
            key, _ = new_researcher(storage)
            [account] = [one for one in storage.access.accounts() if one.name == "ann"]
        staff, again = marked(), marked()
        act(staff, server, "login", token=key)
        added = challenge(staff, server, "passkeys")
        made = act(staff, server, "passkeys", label="telephone", answer=device.made(added))
        asked = challenge(again, server, "passkey")
        signed = device.but(holder=account.id).signed(asked)
        assert "telephone" in made.text
        assert act(again, server, "passkey", answer=signed).url.endswith("/dashboard/")
        with closing(server.storage()) as storage:
            assert LOGIN in [entry.what for entry in storage.journal.entries()]
        found = files(tmp_path)

    answers = [json.loads(signed)["response"]["signature"], *(_base64(one) for one in (added, asked))]
    secrets = [key, *(one.cookies["__Host-sottovoce"] for one in (staff, again)), *answers]
    assert device.credential_id in found
    assert [mark for mark in (*secrets, MARK, "203.0.113.77") if mark.encode() in found] == []
    assert not any(one in found for one in (added, asked))


def marked() -> requests.Session:
    """A browser of staff whose requests are marked, and which takes this for https."""
    session = requests.Session()
    session.headers.update({name: value for name, value in MARKS.items() if name not in {"Cookie", "Authorization"}})
    session.cookies = _Cookies()
    return session


class _Cookies(RequestsCookieJar):
    def set_cookie(self, cookie: Cookie, *args: object, **more: object) -> None:
        cookie.secure = False
        super().set_cookie(cookie, *args, **more)  # type: ignore[no-untyped-call]


def challenge(staff: requests.Session, server: Server, page: str) -> bytes:
    shown = staff.get(f"{server.url}/dashboard/{page}", timeout=30).text
    question = json.loads(unescape(re.search(r'data-question="([^"]+)"', shown)[1]))  # type: ignore[index]
    return urlsafe_b64decode(question["challenge"] + "==")


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def new_researcher(storage: Storage) -> tuple[str, str]:
    """A key of somebody who may do everything, and an invitation."""
    (key, digest), (invitation, invited) = new_key(), new_link()
    storage.add_researcher("ann", digest)
    storage.access.add_invitation(AccountInvitation(invited, "exam", "viewer", None, 30_000))
    return key, invitation


def act(staff: requests.Session, server: Server, path: str, **given: str) -> requests.Response:
    """A form that is sent, with its token if the page of one's own has one."""
    page = staff.get(f"{server.url}/dashboard/me", timeout=30).text
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', page)
    form = given | ({"form_token": token[1]} if token else {})
    return staff.post(
        f"{server.url}/dashboard/{path}", data=form, timeout=30, headers={"Sec-Fetch-Site": "same-origin"}
    )


def correlation(ranks: list[int]) -> float:
    """Spearman's, of ranks with the order of arrival."""
    mean = (len(ranks) - 1) / 2
    return sum((rank - mean) * (number - mean) for number, rank in enumerate(ranks)) / sum(
        (rank - mean) ** 2 for rank in ranks
    )
