#!/bin/sh
# Expected of add_question(question, index=1): the new question stands between the first and the second one and is asked there, as one that
# is added at the end is.
# Seen: it stands there and is never asked. The step that led to the question after it is moved along with that one, so that everybody goes
# past the new one. A survey that is written in the same order at once asks all four.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check edsl==1.0.9
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

from edsl import QuestionMultipleChoice, Survey


def question(name):
    """Return a question of yes and no."""
    return QuestionMultipleChoice(question_name=name, question_text=name, question_options=["yes", "no"])


def asked(survey):
    """Return the questions that somebody is asked who answers yes to each."""
    path, names = survey.gen_path_through_survey(), []
    at = next(path)
    while at is not None:
        names.append(at.question_name)
        try:
            at = path.send({f"{at.question_name}.answer": "yes"})
        except StopIteration:
            at = None
    return names


names = ["age", "cheated", "comment"]
seen = []
for index in (None, 1, 2):
    survey = Survey([question(name) for name in names])
    survey.add_question(question("consent"), index=index)
    seen.append((survey.question_names.index("consent"), asked(survey)))
written = Survey([question(name) for name in ("age", "consent", "cheated", "comment")])
print("edsl", version("edsl"))
print("added at the end, at 1, at 2: place and questions that are asked:", *seen)
print("the same order written at once:", asked(written))
raise SystemExit(seen != [(3, [*names, "consent"]), (1, names), (2, names)] or asked(written) != ["age", "consent", "cheated", "comment"])
END
