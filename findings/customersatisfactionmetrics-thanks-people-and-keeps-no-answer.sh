#!/bin/sh
# Expected of a survey set up as the package's description says, and of its defaults, SURVEY_SELF_POST = True: the answers of whoever sends
# the page and is thanked are kept.
# Seen: no answer is. The page keeps answers where that setting is True in the settings of the site; the defaults of the package are in a
# file that nothing reads, so that without a line of its own it is False, and everybody is sent to the page of thanks instead.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check customersatisfactionmetrics==1.1.2 Django==5.2.19
env/bin/python - <<'END'
from importlib.metadata import version

import django
from django.conf import settings

apps = ["admin", "auth", "contenttypes", "sessions", "messages", "staticfiles"]
settings.configure(
    INSTALLED_APPS=[*(f"django.contrib.{name}" for name in apps), "customersatisfactionmetrics"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="customersatisfactionmetrics.urls",
    SECRET_KEY="a key of this test",
    STATIC_URL="/static/",
    USE_TZ=True,
)
django.setup()
from customersatisfactionmetrics import defaults
from customersatisfactionmetrics.models import Question, Response, Survey
from django.core.management import call_command
from django.test import Client

call_command("migrate", verbosity=0)
survey = Survey.objects.create(title="visit", slug="visit", survey_type="NPS")
question = Question.objects.create(
    survey=survey, text="Would you come again?", response_type="INT", order=1, language="en", is_required=True, int_min=0, int_max=10
)
path = f"/survey/slug/{survey.slug}/"
seen = []
for chosen in (False, True):
    if chosen:
        settings.SURVEY_SELF_POST = defaults.SURVEY_SELF_POST
    answers = [Client().post(path, {f"question_{question.pk}": str(score)}) for score in (9, 2, 10)]
    seen.append(([(answer.status_code, answer.headers.get("Location")) for answer in answers], Response.objects.count()))
print("customersatisfactionmetrics", version("customersatisfactionmetrics"), "Django", version("Django"))
print("SURVEY_SELF_POST of the package:", defaults.SURVEY_SELF_POST)
print("three people by the defaults, answered with:", *seen[0][0], "; answers kept:", seen[0][1])
print("three more, where the site sets it, too:", *seen[1][0], "; answers kept:", seen[1][1])
raise SystemExit(seen != [([(302, "/survey/thank-you/")] * 3, 0), ([(200, None)] * 3, 3)])
END
