"""Whose keys publishing writes into a blind survey, and when it makes none."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.trial import trial_of
from sottovoce.aggregator.invitations import key_file
from sottovoce.aggregator.invitations.key_file import with_known_moduli, with_moduli
from sottovoce.aggregator.invitations.rsa_blind_signer import SigningKey
from sottovoce.aggregator.planning.simulated_survey import InventedReports
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.preview_page import pretended
from sottovoce.client.page import preview
from sottovoce.shared.errors import SpecError, StorageError
from sottovoce.shared.redemption import spell_modulus

from tests.conftest import FakeClock
from tests.surveys import document, months, survey
from tests.unit.aggregator.conftest import SITE
from tests.unit.aggregator.studio.design.test_page import Researcher

WAIT = {"privacy": {"send_within_hours": 24}}
PUBLISH = "surveys/exam/publish"


def _numbers() -> Iterator[SigningKey]:
    """Numbers as long as keys; nothing is signed with them."""
    for number in range(1, 99):
        yield SigningKey((1 << 1023) + 2 * number + 1, (1 << 1024) - 1)


@pytest.fixture(autouse=True)
def quick_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = _numbers()
    monkeypatch.setattr(key_file, "make_key", lambda _bits: next(numbers))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(public_url=SITE, blind_keys_file=str(tmp_path / "keys"))


def test_correction_gets_the_published_keys_and_new_ones_for_new_waves(
    storage: SQLiteStorage, settings: Settings
) -> None:
    """An empty file never gets other keys for a name that people were invited under."""
    first = with_moduli(storage, survey(access="blind", waves=months(1), **WAIT), settings)
    storage.publish(first)
    more = survey(access="blind", revision=2, waves=months(2), **WAIT)
    corrected = with_moduli(storage, more, settings)
    assert (corrected.moduli[:1], len(corrected.moduli)) == (first.moduli, 2)
    same = survey(access="blind", revision=2, waves=months(1), **WAIT)
    assert with_known_moduli(storage, same, settings).moduli == first.moduli
    assert with_known_moduli(storage, more, settings).moduli == ()

    Path(settings.blind_keys_file).unlink()
    for tried in (more, first):
        with pytest.raises(StorageError, match="not there"):
            with_moduli(storage, tried, settings)
    assert not Path(settings.blind_keys_file).exists()


def test_keys_of_another_survey_are_refused_in_words(storage: SQLiteStorage, settings: Settings) -> None:
    """A copied file says blind; a draft made of what was published says it already."""
    first = with_moduli(storage, survey(access="blind", **WAIT), settings)
    access = {"blind": [spell_modulus(modulus) for modulus in first.moduli]}
    with pytest.raises(SpecError, match="write blind"):
        with_moduli(storage, survey(name="copy", access=access, **WAIT), settings)
    assert draft_of(first.document).head["access"] == "blind"


def test_publish_says_what_is_wrong_with_the_keys(storage: SQLiteStorage, clock: FakeClock, settings: Settings) -> None:
    """Before the button and after it; once it is mended the survey is published, and then has a digest."""
    storage.drafts.add("exam", draft_of(document(access="blind", **WAIT)).dumped)
    without = Researcher(create_app(Settings(public_url=SITE), storage, clock, {}))
    assert "no file for the keys" in without.get(PUBLISH)
    assert without.post(PUBLISH, version="1").status_code == 422

    ann = Researcher(create_app(settings, storage, clock, {}))
    file = Path(settings.blind_keys_file)
    file.write_text("{}")
    file.chmod(0o644)
    assert "its mode must be 0600" in ann.get(PUBLISH)
    reply = ann.post(PUBLISH, version="1")
    assert (reply.status_code, "its mode must be 0600" in reply.text) == (422, True)
    file.unlink()

    page = ann.get(PUBLISH)
    assert "The digest is known once" in page
    assert survey(access="blind", **WAIT).digest not in page
    assert ann.post(PUBLISH, version="1").status_code == 303
    assert len(storage.revisions("exam")) == 1
    ann.post("surveys/exam/design/correct")
    ann.post("surveys/exam/design", version="1", **{"title.en": "Corrected"})
    assert "The digest names exactly" in ann.get(PUBLISH)


def test_blind_draft_is_previewed_rehearsed_and_tried(
    storage: SQLiteStorage, clock: FakeClock, settings: Settings
) -> None:
    blind = survey(access="blind", **WAIT)
    shown = pretended(blind)
    assert (shown.asks_for_token, shown.send_within_hours, shown.questions) == (True, 24, blind.questions)
    storage.drafts.add("exam", draft_of(blind.document).dumped)
    app: Flask = create_app(settings, storage, clock, {}, preview)
    ann = Researcher(app)
    assert "#t=0000000000000000" in ann.get("surveys/exam/preview")
    assert '\\"access\\":\\"token\\"' in ann.get("surveys/exam/preview/s/exam")

    assert len(InventedReports(blind, np.zeros((3, len(blind.questions)), np.uint8)).columns) == 3
    trial = trial_of(blind, "exam-trial-1", clock().date())
    assert (trial.send_within_hours, trial.release_batch, trial.is_blind) == (0, 1, False)


def test_invitation_to_a_blind_panel_has_a_link_to_each_wave(
    storage: SQLiteStorage, clock: FakeClock, settings: Settings
) -> None:
    """It is redeemed once, so that nobody is given another for the next wave; who can answer stays as it is."""
    storage.publish(with_moduli(storage, survey(access="blind", waves=months(7)[5:], **WAIT), settings))
    ann = Researcher(create_app(settings, storage, clock, {}))
    page = ann.get("surveys/exam/invite")
    assert "Do not make a second link" in page
    assert 'value="cards"' not in page
    rows = list(csv.DictReader(io.StringIO(ann.post("surveys/exam/invite/links", count="2", batch="x").text)))
    assert [list(row) for row in rows] == [["token", "link_wave_0", "link_wave_1"]] * 2
    assert all(row[key].endswith(f"&t={row['token']}") for row in rows for key in list(row)[1:])
    assert rows[0]["link_wave_0"] != rows[0]["link_wave_1"]

    ann.post("surveys/exam/design/correct")
    page = ann.get("surveys/exam/design")
    assert '<input type="hidden" name="access" value="blind"><select id="access" disabled' in page
    ann.post("surveys/exam/design", version="1", access="open")
    assert "(access): cannot change" in ann.get(PUBLISH)


def test_publish_says_for_which_waves_redeemed_links_are_good(
    storage: SQLiteStorage, settings: Settings, clock: FakeClock
) -> None:
    """Of a correction with more waves than people's devices had signed."""
    ann = Researcher(create_app(settings, storage, clock, {}))
    storage.publish(with_moduli(storage, survey(access="blind", waves=months(1), **WAIT), settings))
    for waves, told in ((1, False), (2, True)):
        changed = document(access="blind", revision=2, waves=months(waves), **WAIT)
        storage.drafts.add("exam", draft_of(changed, 2).dumped)
        assert ("only for the waves that existed then" in ann.get(PUBLISH)) == told
        storage.drafts.delete("exam")
