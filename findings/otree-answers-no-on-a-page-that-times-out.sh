#!/bin/sh
# Expected of a page that ends by its clock before a person answered: the questions have no answer.
# Seen: a yes/no question is stored as False and exported as 0, which is "no"; numbers become 0, also where 0 is not among the
# choices. Only fields with blank=True stay empty, and the export has no column that tells a page that timed out.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check otree==6.0.15 requests==2.32.5
mkdir -p study/_static study/_templates/global study/asks
cd study
cat > settings.py <<'END'
SESSION_CONFIGS = [{"name": "s", "app_sequence": ["asks"], "num_demo_participants": 1}]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 1.0, "participation_fee": 0.0, "doc": ""}
PARTICIPANT_FIELDS, SESSION_FIELDS = [], []
LANGUAGE_CODE, REAL_WORLD_CURRENCY_CODE, USE_POINTS = "en", "USD", True
ADMIN_USERNAME, ADMIN_PASSWORD, SECRET_KEY = "admin", "", "only for this run"
END
cat > asks/__init__.py <<'END'
from otree.api import *


class C(BaseConstants):
    NAME_IN_URL, PLAYERS_PER_GROUP, NUM_ROUNDS = "asks", None, 1


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    cheated = models.BooleanField(label="Have you cheated?")
    content = models.IntegerField(choices=[[1, "not"], [5, "very"]], widget=widgets.RadioSelect)
    may_stay = models.BooleanField(blank=True)


class Ask(Page):
    form_model = "player"
    form_fields = ["cheated", "content", "may_stay"]
    timeout_seconds = 30


page_sequence = [Ask]
END
cat > asks/Ask.html <<'END'
{{ block title }}Ask{{ endblock }}
{{ block content }}{{ formfields }}{{ next_button }}{{ endblock }}
END
cat > asks/tests.py <<'END'
from otree.api import *

from . import Ask


class PlayerBot(Bot):
    def play_round(self):
        yield Submission(Ask, {}, timeout_happened=True, check_html=False)
END
../env/bin/otree test s --export=out > run.txt 2>&1 || { cat run.txt; exit 1; }
../env/bin/python - <<'END'
import csv
from importlib.metadata import version

with open("out/asks.csv", encoding="utf-8-sig") as file:
    row = next(csv.DictReader(file))
seen = [row[f"player.{name}"] for name in ("cheated", "content", "may_stay")]
told = [name for name in row if "timeout" in name]
print("otree", version("otree"))
print("exported of a person who answered nothing: cheated, content, may_stay =", seen, "columns that tell:", told)
raise SystemExit(seen != ["0", "0", ""] or bool(told))
END
