#!/bin/sh
# Expected of with_renamed_question("work", "job"), which updates references to a question: the question of work has another name, and is
# asked of the same people, those whose status is 'work'.
# Seen: the answer 'work' of the condition is renamed, too, and no option of the question of status is. The condition holds for nobody, so
# that those who work are not asked. A question whose name is no answer, here hours, is asked as before.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check edsl==1.0.9
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

from edsl import QuestionMultipleChoice, Survey


def survey_with(name):
    """Return a survey whose question `name` is asked of those who work."""
    status = QuestionMultipleChoice(question_name="status", question_text="status", question_options=["work", "school", "neither"])
    more = [QuestionMultipleChoice(question_name=each, question_text=each, question_options=["yes", "no"]) for each in (name, "last")]
    return Survey([status, *more]).add_skip_rule(name, "{{ status.answer }} != 'work'")


def asked(survey, status):
    """Return the questions that somebody of this status is asked."""
    path, names = survey.gen_path_through_survey(), []
    at = next(path)
    while at is not None:
        names.append(at.question_name)
        try:
            at = path.send({f"{at.question_name}.answer": status if at.question_name == "status" else "yes"})
        except StopIteration:
            at = None
    return names


print("edsl", version("edsl"))
seen = []
for name in ("work", "hours"):
    before = survey_with(name)
    after = Survey.from_dict(before.with_renamed_question(name, "job").to_dict())
    rule = next(rule.expression for rule in after.rule_collection if rule.before_rule)
    options = after.questions[0].question_options
    seen.append((asked(before, "work"), asked(after, "work"), asked(after, "school")))
    print(name, "renamed job: asked before and after of one who works, and of one at school:", *seen[-1], "skipped where", rule, options)
wrong = [(["status", "work", "last"], ["status", "last"], ["status", "last"])]
raise SystemExit(seen != [*wrong, (["status", "hours", "last"], ["status", "job", "last"], ["status", "last"])])
END
