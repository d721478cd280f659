"""A single question in a real oTree, by people in Chromium, and its export."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser
from sottovoce import records
from sottovoce.aggregator import open_data
from sottovoce.aggregator.authoring.question_snippets import snippet
from sottovoce.cli.process import free_port
from sottovoce.client.question_page import question_scripts
from sottovoce.shared.single_question import parse_question

from tests.browser.question_host import COIN, answer_in_window, window_of
from tests.conftest import Running

pytestmark = pytest.mark.slow

OTREE = Path(__file__).parents[1] / "otree" / ".venv" / "bin" / "otree"
"""Made by ``make slow``, in an environment of its own."""

PEOPLE = 200

SETTINGS = """
SESSION_CONFIGS = [dict(name="exam", app_sequence=["exam"], num_demo_participants=1)]
SESSION_CONFIG_DEFAULTS = dict(real_world_currency_per_point=1, participation_fee=0)
PARTICIPANT_FIELDS, SESSION_FIELDS = [], []
LANGUAGE_CODE, REAL_WORLD_CURRENCY_CODE, USE_POINTS = "en", "USD", True
ADMIN_USERNAME, ADMIN_PASSWORD, SECRET_KEY = "admin", "admin", "secret"
"""

APP = """
from otree.api import *

class C(BaseConstants):
    NAME_IN_URL, PLAYERS_PER_GROUP, NUM_ROUNDS = "exam", None, 1

class Subsession(BaseSubsession):
    pass

class Group(BaseGroup):
    pass

class Player(BasePlayer):
    cheated = models.StringField(blank=True)
    cheated_channel = models.StringField(blank=True)
    cheated_once = models.StringField(blank=True)
    cheated_state = models.StringField(blank=True)

class Question(Page):
    form_model = "player"
    form_fields = ["cheated", "cheated_channel", "cheated_once", "cheated_state"]

class End(Page):
    pass

page_sequence = [Question, End]
"""

TEMPLATE = "{{ block title }}Exam{{ endblock }}\n{{ block content }}\nSNIPPET{{ next_button }}\n{{ endblock }}\n"
END = "{{ block title }}End{{ endblock }}\n{{ block content }}<p id='end'>Thank you.</p>{{ endblock }}\n"


@pytest.fixture
def server(tmp_path: Path, site: Running) -> Iterator[str]:
    for folder in ("exam", "_static", "_templates"):
        (tmp_path / folder).mkdir()
    script = question_scripts()["element.js"].encode()
    lines = snippet("otree", f"{site.url}/q/1/", parse_question(COIN), script)
    files = {"settings.py": SETTINGS, "exam/__init__.py": APP, "exam/Question.html": TEMPLATE.replace("SNIPPET", lines),
             "exam/End.html": END}  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    port = free_port()
    log = (tmp_path / "log").open("wb")
    environment = {**os.environ, "PATH": f"{OTREE.parent}:{os.environ['PATH']}"}
    command = [str(OTREE), "devserver", str(port)]
    running = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True)
    address = f"http://localhost:{port}"
    try:
        for _ in range(100):
            try:
                requests.get(address, timeout=5)
                break
            except requests.ConnectionError:
                subprocess.run(["sleep", "0.3"], check=True)
        yield address
    finally:
        os.killpg(running.pid, 15)
        running.wait(20)
        log.close()


def test_people_answer_and_the_export_is_analyzed(server: str, browser: Browser, tmp_path: Path) -> None:
    """The exported columns need no other file, and tell how many answered."""
    made = requests.post(f"{server}/api/sessions", json={"session_config_name": "exam", "num_participants": PEOPLE},
                         timeout=30).json()  # fmt: skip
    truth = [int(number % 4 == 0) for number in range(PEOPLE)]
    for option in truth:
        context = browser.new_context()
        page = context.new_page()
        page.goto(made["session_wide_url"])
        page.wait_for_selector("sottovoce-question button")
        answer_in_window(window_of(page), option)
        page.wait_for_function("document.querySelector('sottovoce-question').record")
        page.locator(".otree-btn-next").click()
        page.wait_for_selector("#end")
        context.close()
    exported = tmp_path / "exam.csv"
    exported.write_bytes(requests.get(f"{server}/api/export_app", params={"app": "exam"}, timeout=30).content)
    opened = open_data(exported)
    assert opened.states["player.cheated"] == (PEOPLE, PEOPLE)
    [row] = opened.shares("player.cheated").rows
    assert row["n"] == PEOPLE
    assert abs(row["raw"] - sum(truth) / PEOPLE) < 3 * row["std_error"]


def test_bots_fill_the_fields() -> None:
    """By the record that Python draws."""
    assert set(records.columns(records.simulate(COIN, "yes"))) == {"cheated", "cheated_channel", "cheated_once"}
