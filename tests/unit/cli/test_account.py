"""Accounts, roles, keys and invitations from the command line: who is let in, and let in no more."""

import re
import stat
from pathlib import Path

import pytest
from click.testing import Result
from sottovoce.aggregator.accounts.authentication import KEY_PREFIX, authenticate_key, key_hash, link_hash
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.staff import let_first_researcher_in
from sottovoce.shared.errors import StorageError

from tests.commands import run as command


def run(data: Path, *words: str) -> Result:
    return command(*words, "--data", data)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    assert run(tmp_path, "staff", "add", "ann").exit_code == 0
    return tmp_path


def staff(data: Path, *words: str, typed: str = "") -> Result:
    return command("staff", *words, "--data", data, typed=typed)


def accounts(data: Path) -> list[str]:
    """Lines of the list of accounts, without their numbers."""
    return [line.partition("  ")[2] for line in staff(data, "list").stdout.splitlines()]


@pytest.fixture
def tokens(tmp_path: Path) -> dict[str, str]:
    """A token of Ann's and two of Ben's, the later one kept here."""
    return {name: staff(tmp_path, "add", name).stdout.strip() for name in ("ben", "ann", "ben")}


def test_last_admin_is_not_disabled_and_recovers(data: Path) -> None:
    refused = run(data, "staff", "disable", "ann")
    assert (refused.exit_code, "the only admin" in refused.stderr) == (1, True)
    link = run(data, "staff", "recover").stdout
    secret = re.search(r"/dashboard/sign-in\?link=(\S+)", link)
    assert secret
    storage = SQLiteStorage(data / FILE)
    seconds = int(now().timestamp())
    account = storage.access.start_session_by_link(b"s", link_hash(secret[1]), seconds)
    assert (account.name, account.admin) == ("ann", True)
    assert storage.access.start_session_by_link(b"t", link_hash(secret[1]), seconds) is None
    storage.close()


def test_recovering_makes_an_admin_where_there_is_none(tmp_path: Path) -> None:
    """Also in a database in which nobody was ever let in."""
    SQLiteStorage(tmp_path / FILE).close()
    assert run(tmp_path, "staff", "recover").exit_code == 0

    assert re.fullmatch(r"[0-9a-f]{8}  recovered  0 keys  admin\n", run(tmp_path, "staff", "list").stdout)


def test_roles_are_given_listed_and_taken_back(data: Path) -> None:
    run(data, "staff", "add", "ben")
    assert run(data, "staff", "grant", "ben", "viewer", "--survey", "exam").exit_code == 0
    listed = run(data, "staff", "roles").stdout
    assert "ben  viewer  exam" in listed
    assert listed.count("owner  every survey") == 2
    assert run(data, "staff", "revoke", "ben", "--survey", "exam").exit_code == 0
    assert run(data, "staff", "revoke", "ben").exit_code == 0
    refused = run(data, "staff", "revoke", "ann")
    assert (refused.exit_code, "the survey's only owner" in refused.stderr) == (1, True)
    unknown = run(data, "staff", "grant", "nobody", "viewer")
    assert 'account "nobody" was not found' in unknown.stderr


def test_keys_are_made_listed_and_revoked(data: Path) -> None:
    made = run(data, "staff", "key", "create", "ann", "--scope", "results:read", "--survey", "exam", "--days", "30")
    secret = made.stdout.strip()
    listed = run(data, "staff", "key", "list").stdout
    [line] = [line for line in listed.splitlines() if "exam" in line]
    assert line.endswith("  ann  command line  results:read  exam  30 days left  never used")
    assert secret not in listed
    storage = SQLiteStorage(data / FILE)
    assert storage.access.key(key_hash(secret), day_of(now())) is not None
    assert run(data, "staff", "key", "revoke", line.split()[0]).exit_code == 0
    assert storage.access.key(key_hash(secret), day_of(now())) is None
    storage.close()
    assert "was not found" in run(data, "staff", "key", "revoke", line.split()[0]).stderr
    assert run(data, "staff", "key", "create", "ann", "--days", "367").exit_code == 2
    assert "cannot be shown" in run(data, "staff", "key", "create", "ann", "--label", "a\x1bb").stderr


def test_deleted_account_leaves_a_number_in_the_journal_alone(data: Path) -> None:
    assert "the only admin" in run(data, "staff", "delete", "ann", "--yes").stderr
    assert run(data, "staff", "add", "bob-the-builder").exit_code == 0
    refused = run(data, "staff", "delete", "bob-the-builder")
    assert (refused.exit_code, "--yes" in refused.stderr) == (1, True)
    storage = SQLiteStorage(data / FILE)
    (account,) = [one for one in storage.access.accounts() if one.name == "bob-the-builder"]
    assert run(data, "staff", "delete", "bob-the-builder", "--yes").exit_code == 0

    assert storage.access.account(account.id) is None
    assert storage.access.list_keys(account.id) == []
    assert storage.access.grants(account.id) == {}
    (last,) = storage.journal.latest(1)
    assert (last.what, last.who, last.about) == (words.ACCOUNT_DELETED, words.MACHINE, account.id.hex())
    assert storage.verify() == []
    storage.close()
    assert not any(b"bob-the-builder" in path.read_bytes() for path in data.iterdir() if path.is_file())


def test_monitoring_gets_a_key_that_opens_metrics_only(data: Path) -> None:
    """Its account is made without a role, and its key signs nobody in; a misspelt name makes no account otherwise."""
    made = run(data, "staff", "key", "create", "prometheus", "--scope", "metrics:read").stdout.strip()
    assert run(data, "staff", "key", "create", "prometheus", "--scope", "metrics:read").exit_code == 0
    assert run(data, "staff", "key", "create", "an", "--scope", "results:read").exit_code == 1
    storage = SQLiteStorage(data / FILE)
    client = create_app(Settings(), storage, now, {}).test_client()
    head = {"Authorization": f"Bearer {made}"}
    answered = [client.get(path, headers=head).status_code for path in ("/metrics", "/api/v1/surveys/exam/estimates")]

    assert answered[0] == 200
    assert answered[1] in {403, 404}
    assert [one.name for one in storage.access.accounts()].count("prometheus") == 1
    storage.close()


def test_what_is_done_here_is_the_machines_doing(data: Path) -> None:
    """Each act has one entry of the journal, and no entry names a person or nobody."""
    assert run(data, "staff", "add", "bob").exit_code == 0
    [of_ann] = [line for line in run(data, "staff", "key", "list").stdout.splitlines() if "  ann  " in line]
    number = of_ann.split()[0]
    for verb in (
        "grant bob viewer", "revoke bob", "disable bob", "enable bob", "recover",
        "invite viewer", "key create ann --days 1", f"key revoke {number}", "key revoke --all bob --yes",
    ):  # fmt: skip
        assert run(data, "staff", *verb.split()).exit_code == 0, verb
    storage = SQLiteStorage(data / FILE)
    entries = list(storage.journal.entries())
    storage.close()

    made = [words.ACCOUNT_ADDED, words.GRANTED, words.KEY_MADE]
    assert [one.what for one in entries] == [
        *made, *made, words.GRANTED, words.GRANT_REVOKED, words.ACCOUNT_DISABLED, words.ACCOUNT_ENABLED,
        words.SIGN_IN_LINK, words.INVITED, words.KEY_MADE, words.KEY_REVOKED, words.KEY_REVOKED,
    ]  # fmt: skip
    assert {one.who for one in entries} == {words.MACHINE}


def test_invitation_is_printed(data: Path) -> None:
    link = run(data, "staff", "invite", "fieldwork", "--survey", "exam").stdout
    storage = SQLiteStorage(data / FILE)
    found = storage.access.invitation(link_hash(link.strip().rpartition("link=")[2]), day_of(now()))
    storage.close()

    assert (found.survey, found.role, found.account) == ("exam", "fieldwork", None)


def test_list_names_each_with_the_number_of_keys(tmp_path: Path, tokens: dict[str, str]) -> None:
    assert tokens.keys() == {"ann", "ben"}
    assert accounts(tmp_path) == ["ann  1 key  admin", "ben  2 keys  admin"]


def test_revoked_researcher_is_let_in_no_more(tmp_path: Path, tokens: dict[str, str]) -> None:
    storage = SQLiteStorage(tmp_path / FILE)
    for name, token in tokens.items():
        storage.access.start_session_by_key(name.encode(), key_hash(token), 1000)
    assert staff(tmp_path, "key", "revoke", "--all", "ben").exit_code == 0

    assert [storage.access.key(key_hash(tokens[name]), 0) is not None for name in ("ann", "ben")] == [True, False]
    assert [storage.access.session(name, 1001) is not None for name in (b"ann", b"ben")] == [True, False]
    storage.close()
    assert accounts(tmp_path) == ["ann  1 key  admin", "ben  0 keys  admin"]
    assert 'no active account "ben" has keys' in staff(tmp_path, "key", "revoke", "--all", "ben").stderr


def test_last_researcher_is_asked_about(
    tmp_path: Path, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tokens
    staff(tmp_path, "key", "revoke", "--all", "ben")
    refused = staff(tmp_path, "key", "revoke", "--all", "ann")
    monkeypatch.setattr("sottovoce.cli.command.on_terminal", lambda: True)
    declined = staff(tmp_path, "key", "revoke", "--all", "ann", typed="n\n")

    for result in (refused, declined):
        assert result.exit_code == 1
        assert "nothing was revoked" in result.stderr
    assert "ann  1 key  admin" in accounts(tmp_path)
    assert staff(tmp_path, "key", "revoke", "--all", "ann", "--yes").exit_code == 0
    assert "ann  0 keys  admin" in accounts(tmp_path)


SETTINGS = Settings(public_url="https://survey.example.org")


def test_start_prints_a_link_whose_secret_is_no_key(storage: SQLiteStorage) -> None:
    """Whoever reads the log later finds nothing that lets in once it was used, and no key."""
    printed = let_first_researcher_in(storage, SETTINGS, None)
    link = re.search(r"https://survey\.example\.org/dashboard/sign-in\?link=(\S+)", printed)

    assert link
    assert KEY_PREFIX not in printed
    assert authenticate_key(storage, f"Bearer {link[1]}", 0) is None
    assert storage.access.start_session_by_key(b"s", key_hash(link[1]), 0) is None
    account = storage.access.start_session_by_link(b"s", link_hash(link[1]), 0)
    assert (account.name, account.admin, storage.access.grants(account.id)) == ("researcher", True, {"*": "owner"})
    assert storage.access.start_session_by_link(b"t", link_hash(link[1]), 0) is None


def test_key_is_written_for_its_user_alone_and_not_printed(tmp_path: Path, storage: SQLiteStorage) -> None:
    file = tmp_path / "key"
    printed = let_first_researcher_in(storage, SETTINGS, file)
    key = file.read_text().strip()
    found = authenticate_key(storage, f"Bearer {key}", 0)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert key not in printed
    assert "link=" not in printed
    assert (found[0].name, found[0].admin) == ("researcher", True)


def test_key_that_cannot_be_written_is_not_made(tmp_path: Path, storage: SQLiteStorage) -> None:
    """Else the next start would find an account, and make no other; what is in the file stays."""
    (tmp_path / "token").write_text("kept")
    for file in (tmp_path / "token", tmp_path / "nowhere" / "token"):
        with pytest.raises(StorageError, match=r"exists already|does not exist"):
            let_first_researcher_in(storage, SETTINGS, file)

    assert (tmp_path / "token").read_text() == "kept"
    assert not storage.access.has_accounts()
