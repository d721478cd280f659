#!/bin/sh
# Expected of a survey on a tablet that visitors answer one after the other: an answer of each of them.
# Seen: an answer is kept for each question and browser session, and replaced by the next one, so that of fifty visitors the last is left.
# Nobody is told; the form shows each visitor the answer of the one before. Fifty browsers give fifty answers.
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
    SURVEY_SELF_POST=True,
    USE_TZ=True,
)
django.setup()
from customersatisfactionmetrics.models import Question, Response, Survey
from django.core.management import call_command
from django.test import Client

call_command("migrate", verbosity=0)
survey = Survey.objects.create(title="visit", slug="visit", survey_type="NPS")
question = Question.objects.create(
    survey=survey, text="Would you come again?", response_type="INT", order=1, language="en", is_required=True, int_min=0, int_max=10
)
path = f"/survey/slug/{survey.slug}/"


def ask(browsers):
    """Return how many answers of 50 visitors are kept, and whether all but the first were shown the answer of the one before."""
    Response.objects.all().delete()
    shown = []
    for number in range(50):
        browser = browsers[number % len(browsers)]
        page = browser.get(path).content.decode()
        shown.append(f'value="{(number - 1) % 11}" required id="id_question_{question.pk}_{(number - 1) % 11}" checked' in page)
        browser.post(path, {f"question_{question.pk}": str(number % 11)})
    return Response.objects.count(), sum(shown), [answer.text for answer in Response.objects.all()][-1]


tablet, phones = ask([Client()]), ask([Client() for _ in range(50)])
print("customersatisfactionmetrics", version("customersatisfactionmetrics"), "Django", version("Django"))
print("50 visitors of a tablet: answers kept %d, visitors who saw another one's answer %d, the last answer %s" % tablet)
print("50 visitors with phones: answers kept %d, visitors who saw another one's answer %d, the last answer %s" % phones)
raise SystemExit((tablet, phones) != ((1, 49, "5"), (50, 0, "5")))
END
