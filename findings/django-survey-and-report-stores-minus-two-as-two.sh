#!/bin/sh
# Expected of a question with one choice, whose options an author lists as "-2, -1, 0, 1, 2" or "< 18, 18, > 18": the option that was chosen
# is stored, or the options are refused.
# Seen: an option is stored without signs and in small letters, so that much worse and much better are both 2, and everybody is 18. The page
# shows the options as they were written, with one value for two or three of them, and report and CSV file have the stored ones.
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
    EXCEL_COMPATIBLE_CSV=False,
    DEFAULT_SURVEY_PUBLISHING_DURATION=7,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    USE_TZ=True,
)
django.setup()
from django.contrib.auth.models import AnonymousUser
from django.core.management import call_command
from survey.exporter.csv.survey2csv import Survey2Csv
from survey.forms import ResponseForm
from survey.models import Question, Survey

call_command("migrate", verbosity=0)
survey = Survey.objects.create(name="wave", description="", is_published=True, need_logged_user=False, display_method=Survey.ALL_IN_ONE_PAGE)
for number, choices in enumerate(("-2, -1, 0, 1, 2", "< 18, 18, > 18")):
    Question.objects.create(text=f"q{number}", order=number, required=True, survey=survey, type=Question.RADIO, choices=choices)
fields = ResponseForm(survey=survey, user=AnonymousUser()).fields
values = {name: {label: value for value, label in field.choices} for name, field in fields.items()}
print("django-survey-and-report", version("django-survey-and-report"), "Django", version("Django"))
print("shown and stored:", *values.values())
for change, age in (("-2", "< 18"), ("2", "> 18"), ("0", "18")):
    chosen = {"question_1": values["question_1"][change], "question_2": values["question_2"][age]}
    form = ResponseForm(chosen, survey=survey, user=AnonymousUser())
    form.save() if form.is_valid() else print(form.errors)
counts = [question.answers_cardinality() for question in survey.questions.all()]
print("chosen: -2, 2, 0 and < 18, > 18, 18; counted:", *counts, "; CSV:", str(Survey2Csv(survey)).splitlines()[1:])
raise SystemExit(counts != [{"2": 2, "0": 1}, {"18": 3}])
END
