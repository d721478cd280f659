"""An old copy of the database that is put back by hand is seen by a node that ran on a newer one."""

import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.rollback_detection import RollbackMarks, place_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Outcome, Storage
from sottovoce.aggregator.storage.audit_log.events import RESTORED
from sottovoce.aggregator.storage.connect import FILE, open_url
from sottovoce.aggregator.storage.copy import copy_all
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.main import main

from tests import postgres
from tests.conftest import FakeClock
from tests.invited import blind_survey, key

pytestmark = pytest.mark.external
NOON = 1_780_000_000
FIRST, SECOND = b"a" * 32, b"b" * 32


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Storage, Storage]]:
    urls = [postgres.fresh() if request.param == "postgres" else f"sqlite:///{tmp_path / str(n)}" for n in range(2)]
    with closing(open_url(urls[0], tmp_path)) as store, closing(open_url(urls[1], tmp_path, unfinished=True)) as other:
        store.add_tokens(store.publish(blind_survey()).key, [FIRST, SECOND], blind=True)
        yield store, other


@pytest.fixture
def keys(tmp_path: Path) -> str:
    KeysFile(str(tmp_path / "keys"))._write({"exam": (key(0),)})
    return str(tmp_path / "keys")


def test_old_copy_is_held_by_a_node_that_ran_on_a_newer_one(
    stores: tuple[Storage, Storage], keys: str, caplog: pytest.LogCaptureFixture
) -> None:
    """At its next start or round, once: what is let go then stays so; and with a word in the log and the journal."""
    newer, old = stores
    survey = newer.surveys()[0].key
    node = RollbackMarks(keys)
    node.check(newer, NOON)
    copy_all(newer, old)
    node.check(newer, NOON + 60)
    assert newer.redeem_invitation(survey, FIRST, b"x" * 32) is Outcome.NEW
    assert newer.held_invitations() == {}

    with caplog.at_level(logging.ERROR):
        RollbackMarks(keys).check(old, NOON + 120)
    assert "an old copy was put back" in caplog.text
    assert old.held_invitations()["exam"].number == 2
    assert old.redeem_invitation(survey, FIRST, b"y" * 32) is Outcome.UNKNOWN
    assert [entry.what for entry in old.journal.entries()].count(RESTORED) == 1
    assert old.reissue_invitations(survey) == 2
    for second in (0, 60):
        RollbackMarks(keys).check(old, NOON + 120 + second)
    assert old.held_invitations() == {}


def test_clock_that_is_set_back_and_other_databases_hold_nothing(stores: tuple[Storage, Storage], keys: str) -> None:
    """A mark only grows; two databases that began differently share a file of keys and know nothing of each other."""
    store, other = stores
    other.mark_unfinished(False)
    other.add_tokens(other.publish(blind_survey(name="other")).key, [FIRST], blind=True)
    for seconds in (600, 0, -86400):
        RollbackMarks(keys).check(store, NOON + seconds)
        RollbackMarks(keys).check(other, NOON + seconds - 300)
    # By one each time, so that an old copy is seen while a clock that was ahead is waited for.
    assert (store.mark(), other.mark()) == (NOON + 602, NOON + 302)
    assert {**store.held_invitations(), **other.held_invitations()} == {}
    store.hold_invitations(NOON + 900)
    store.hold_invitations(NOON)
    assert store.mark() == NOON + 900


def test_copy_elsewhere_disturbs_nobody(stores: tuple[Storage, Storage], keys: str) -> None:
    """A restore drill with the same file of keys began with the same line, and lies in another place."""
    real, drill = stores
    here, there = place_of("", Path("real")), place_of("", Path("drill"))
    RollbackMarks(keys, here).check(real, NOON)
    copy_all(real, drill)
    for second in (60, 120):
        RollbackMarks(keys, there).check(drill, NOON + second)
        RollbackMarks(keys, here).check(real, NOON + second - 30)
    assert {**real.held_invitations(), **drill.held_invitations()} == {}
    signed_in = [place_of(f"postgresql://{who}@host:5432/base?sslmode=require", Path()) for who in ("a:secret", "b")]
    assert signed_in[0] == signed_in[1] != place_of("postgresql://b@host:5432/other", Path())


def test_what_restore_has_held_is_not_held_again_once_it_is_let_go(stores: tuple[Storage, Storage], keys: str) -> None:
    newer, old = stores
    RollbackMarks(keys).check(newer, NOON)
    copy_all(newer, old)
    RollbackMarks(keys).check(newer, NOON + 60)
    old.hold_invitations(NOON + 61)
    old.reissue_invitations(old.surveys()[0].key)
    RollbackMarks(keys).check(old, NOON + 120)
    assert old.held_invitations() == {}


def test_node_holds_before_it_serves(tmp_path: Path, keys: str, clock: FakeClock) -> None:
    file, settings = tmp_path / FILE, Settings(blind_keys_file=keys)
    with closing(SQLiteStorage(file)) as storage:
        storage.add_tokens(storage.publish(blind_survey()).key, [FIRST], blind=True)
        storage.scrub()
    shutil.copyfile(file, tmp_path / "old")
    with closing(SQLiteStorage(file)) as storage:
        app: Any = create_app(settings, storage, clock, {})
        app.extensions["group_commit"].end()
        assert storage.held_invitations() == {}
        storage.scrub()
    shutil.copyfile(tmp_path / "old", file)
    with closing(SQLiteStorage(file)) as storage:
        marks = RollbackMarks(keys, place_of(settings.database, settings.data))
        assert "an old copy was put back; invitations are held as soon as" in marks.problem(storage)
        app = create_app(settings, storage, clock, {})
        assert storage.held_invitations()["exam"].number == 1
        app.extensions["group_commit"].end()
        assert marks.problem(storage) == ""


def test_whoever_cannot_notice_it_is_told_what_to_do_by_hand(
    tmp_path: Path, keys: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nothing lies beside the keys, or cannot: doctor names the command, which holds all that is good."""
    monkeypatch.setenv("SOTTOVOCE_BLIND_KEYS_FILE", keys)
    with closing(SQLiteStorage(tmp_path / FILE)) as storage:
        storage.add_tokens(storage.publish(blind_survey()).key, [FIRST], blind=True)
        with caplog.at_level(logging.WARNING), monkeypatch.context() as refusing:
            refusing.setattr("tempfile.mkstemp", _refuse)
            node = RollbackMarks(keys)
            node.check(storage, NOON)
            node.check(storage, NOON)
    assert caplog.text.count("nothing can be noted beside them") == 1
    run = CliRunner().invoke
    assert "sottovoce link hold" in run(main, ["db", "doctor", "--data", str(tmp_path)]).stderr
    held = run(main, ["link", "hold", "--data", str(tmp_path)])
    assert (held.exit_code, "exam: 1 invitation is on hold" in held.stderr) == (0, True)
    with closing(SQLiteStorage(tmp_path / FILE)) as storage:
        place = place_of("", tmp_path)
        RollbackMarks(keys, place).check(storage, NOON)
        known = {f"{storage.record()[0].hash.hex()} {place}": storage.mark()}
        assert json.loads(Path(f"{keys}.marks").read_text()) == known
    assert "sottovoce link hold" not in run(main, ["db", "doctor", "--data", str(tmp_path)]).stderr


def _refuse(**_: object) -> None:
    raise PermissionError
