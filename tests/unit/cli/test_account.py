"""Accounts, roles, keys and invitations from the command line."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sottovoce.aggregator.accounts.authentication import key_hash, link_hash
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.main import main


def run(data: Path, *words: str) -> Result:
    """The command."""
    return CliRunner().invoke(main, [*words, "--data", str(data)])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with an account that may do everything."""
    assert run(tmp_path, "staff", "add", "ann").exit_code == 0
    return tmp_path


def test_last_admin_is_not_disabled_and_recovers(data: Path) -> None:
    """A sentence says why; where an admin is needed, a link signs one in, once."""
    refused = run(data, "staff", "disable", "ann")
    assert (refused.exit_code, "the only admin" in refused.stderr) == (1, True)
    link = run(data, "staff", "recover").stdout
    secret = re.search(r"/dashboard/sign-in\?link=(\S+)", link)
    assert secret
    storage = SQLiteStorage(data / FILE)
    seconds = int(now().timestamp())
    account = storage.access.start_session_by_link(b"s", link_hash(secret[1]), seconds)
    assert account is not None
    assert (account.name, account.admin) == ("ann", True)
    assert storage.access.start_session_by_link(b"t", link_hash(secret[1]), seconds) is None
    storage.close()


def test_recovering_makes_an_admin_where_there_is_none(tmp_path: Path) -> None:
    """Also in a database in which nobody was ever let in."""
    SQLiteStorage(tmp_path / FILE).close()
    assert run(tmp_path, "staff", "recover").exit_code == 0

    assert re.fullmatch(r"[0-9a-f]{8}  recovered  0 keys  admin\n", run(tmp_path, "staff", "list").stdout)


def test_roles_are_given_listed_and_taken_back(data: Path) -> None:
    """By name, or by number where two have one name; the last owner stays."""
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
    """With their scopes, their survey and their days; the list holds no secret."""
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
    """Its name is in no table; the last admin, and whoever does not confirm, is left."""
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
    """With the role and the survey that it brings."""
    link = run(data, "staff", "invite", "fieldwork", "--survey", "exam").stdout
    storage = SQLiteStorage(data / FILE)
    found = storage.access.invitation(link_hash(link.strip().rpartition("link=")[2]), day_of(now()))
    storage.close()

    assert found is not None
    assert (found.survey, found.role, found.account) == ("exam", "fieldwork", None)
