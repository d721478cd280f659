#!/bin/sh
# Expected of letters of significance in a table of percentages: the test is of those percentages. 50 % of those who answered in each
# of two groups differ by nothing and get no letter.
# Seen: percentages are of those who answered, and the test counts who was not asked as a no. Where all of 200 drivers were asked and
# 80 of 200 others, a letter stands beside 50 % and 50 %; where 160 others were, none stands beside 50 % and 70 %, p = .0001.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check surveyflow==0.8.0 pandas==2.3.3 numpy==2.2.6 scipy==1.15.3 openpyxl==3.1.5
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from scipy.stats import ttest_ind
from surveyflow.steps.table.table_step import TableStep

CHOICES = {"1": {"en": "yes"}, "2": {"en": "no"}}
questions = {
    str(at): {"position": at, "label": name, "choices_i18n": CHOICES, "answer_type": "SA", "rawdata_columns": [name]}
    for at, name in enumerate(("drives", "spoke"), 1)
}
config = {
    "banner": [{"label": "Drives", "question": "q1", "groups": [{"label": "yes", "value": 1}, {"label": "no", "value": 2}]}],
    "stub": [{"question": "q2", "stats": ["base", "percent"]}],
    "tables": [{"show_sig": True, "levels": [95]}],
}
print("surveyflow", version("surveyflow"))
seen = []
for yes, no in ((40, 40), (112, 48)):
    drivers, others = [1] * 100 + [2] * 100, [1] * yes + [2] * no
    people = pandas.DataFrame({"drives": [1] * 200 + [2] * 200, "spoke": drivers + others + [None] * (200 - yes - no)})
    context = {"df": people, "metadata": {"questions": questions}, "datatable_config": config, "lang": "en"}
    base, row, _ = TableStep().compute(context)["table_results"][0]["blocks"][0]["rows"]
    letters = row.get("sig_marks", ["", ""])
    p = round(ttest_ind(drivers, others, equal_var=False).pvalue, 4)
    seen.append((base["counts"], row["values"], letters, p))
    print("answered", base["counts"], "yes", row["values"], "letters", letters, f"p by those who answered {p:.4f}")
raise SystemExit(seen != [([200, 80], [0.5, 0.5], ["B", ""], 1.0), ([200, 160], [0.5, 0.7], ["", ""], 0.0001)])
END
