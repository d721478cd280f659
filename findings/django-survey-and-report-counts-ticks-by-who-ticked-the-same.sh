#!/bin/sh
# Expected of answers_cardinality, "a dictionary with answers as key and cardinality as value", of a question with several choices: how many
# people ticked each option; with group_together={"hot": ["tea", "coffee"]} how many ticks were of the two.
# Seen: the ticks of a person are one answer, in brackets, as Python prints a list: of three people who ticked tea, two of them coffee as
# well, none is counted with tea, and grouping finds none of them. Lists written by Python 2, with u before a quotation mark, are taken apart.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check django-survey-and-report==1.5.0 Django==5.2.19 pytz==2026.6 PyYAML==6.0.4
env/bin/python - <<'END'
from importlib.metadata import version

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "survey"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    CHOICES_SEPARATOR=",",
    USER_DID_NOT_ANSWER="Left blank",
    DEFAULT_SURVEY_PUBLISHING_DURATION=7,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    USE_TZ=True,
)
django.setup()
from django.contrib.auth.models import AnonymousUser
from django.core.management import call_command
from survey.forms import ResponseForm
from survey.models import Answer, Question, Survey

call_command("migrate", verbosity=0)
survey = Survey.objects.create(name="wave", description="", is_published=True, need_logged_user=False, display_method=Survey.ALL_IN_ONE_PAGE)
drinks = Question.objects.create(text="drinks", order=1, required=True, survey=survey, type=Question.SELECT_MULTIPLE, choices="tea, coffee, milk")
for ticks in (["tea"], ["tea", "coffee"], ["tea", "coffee"]):
    form = ResponseForm({f"question_{drinks.pk}": ticks}, survey=survey, user=AnonymousUser())
    form.save() if form.is_valid() else print(form.errors)
counts = [drinks.answers_cardinality(), drinks.answers_cardinality(group_together={"hot": ["tea", "coffee"]})]
old = Answer(question=drinks, body="[u'tea', u'coffee']").values
print("django-survey-and-report", version("django-survey-and-report"), "Django", version("Django"))
print("ticked: tea 3, coffee 2; counted:", counts[0], "grouped:", counts[1], "a list of Python 2:", old)
raise SystemExit(counts != [{"['tea']": 1, "['tea', 'coffee']": 2}] * 2 or old != ["tea", "coffee"])
END
