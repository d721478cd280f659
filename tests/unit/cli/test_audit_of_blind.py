"""An audit of the client that an aggregator serves, where it asks for invitations."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sottovoce.cli.main import main

from tests.surveys import document


@pytest.mark.parametrize("token", ["", "&t=0123456789ABCDEF"])
def test_served_form_of_a_blind_survey_is_refused_with_what_can_be_done(tmp_path: Path, token: str) -> None:
    """At once, nothing fetched and no invitation told: the aggregator of this link is nowhere."""
    given = document(access="blind", privacy={"send_within_hours": 24})
    (tmp_path / "exam.json").write_text(json.dumps(given), encoding="utf-8")
    link = f"https://nowhere.invalid/s/exam#d={'0' * 32}{token}"
    ended = CliRunner().invoke(main, ["audit", str(tmp_path / "exam.json"), "--client", link])

    assert ended.exit_code == 1
    assert "leave --client out" in ended.stderr
    assert "sottovoce verify LINK" in ended.stderr
    assert "0123456789ABCDEF" not in ended.output
