"""
Real answers to try the system on: Fair's data on extramarital affairs.

Source: R. C. Fair, "A Theory of Extramarital Affairs", Journal of Political Economy 86 (1978): 6,366 women who answered
a magazine's survey. Public domain; four of its nine columns are kept here.
"""

import csv
from importlib.resources import files

from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

_OCCUPATIONS = ("student", "manual", "office", "skilled", "manager", "professional")
_RELIGIOUS = ("not_at_all", "mildly", "fairly", "strongly")
_AGES = ((25, "under_25"), (30, "from_25"), (35, "from_30"), (1000, "from_35"))


def demo_survey() -> Survey:
    """The survey that the demonstration asks."""
    return parse_survey(parse_yaml(files(__package__).joinpath("survey.yaml").read_bytes()))


def demo_answers() -> list[dict[str, str]]:
    """6,366 respondents' true answers, as option names by question name."""
    text = files(__package__).joinpath("fair.csv").read_text(encoding="ascii")
    return [_answers(row) for row in csv.DictReader(text.splitlines())]


def _answers(row: dict[str, str]) -> dict[str, str]:
    affair = "yes" if float(row["affairs"]) > 0 else "no"
    return {
        "affair_coin": affair,
        "affair_warner": affair,
        "occupation": _OCCUPATIONS[int(float(row["occupation"])) - 1],
        "religious": _RELIGIOUS[int(float(row["religious"])) - 1],
        "age_group": next(name for limit, name in _AGES if float(row["age"]) < limit),
    }
