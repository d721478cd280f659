#!/bin/sh
# Expected of maxdiff's converter of long files, which is told that 1 is the most and -1 the least: each person's most is the option
# with the code 1, in whatever order the options were shown.
# Seen: codes are looked for inside one another, so that -1 is a 1 too, and the first of the two options is the most. Of 300 people who
# all care most for rent and least for sport, half have "sport" for both; rent has a score of 50 in the place of 100, sport -50.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check maxdiff==3.0.3 pandas==2.3.3 numpy==2.2.6
MPLCONFIGDIR="$folder" env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from maxdiff.count import calculate_scores_no_ci
from maxdiff.formats import DataFormatDetector, check_errors

CODES = {"rent": 1, "food": 0, "travel": 0, "sport": -1}
orders = (["rent", "food", "travel", "sport"], ["sport", "travel", "food", "rent"])
rows = [(person, 1, option, CODES[option]) for person in range(300) for option in orders[person % 2]]
answers = pandas.DataFrame(rows, columns=["person", "task", "option", "choice"])
wide = DataFormatDetector.convert_long_format(answers, "person", "task", "option", "choice", most_value="1", least_value="-1")
shown = [f"Attribute{number}" for number in range(1, 5)]
check_errors(wide, shown, "Most", "Least")
scores = calculate_scores_no_ci(wide, shown, "Most", "Least").set_index("Item")["Score"]
most = answers[answers["choice"] == 1]["option"].value_counts().to_dict()
seen = wide["Most"].value_counts().to_dict()
print("maxdiff", version("maxdiff"), "most, by the codes:", most, "; converted:", dict(sorted(seen.items())))
print("scores:", scores.to_dict(), "; the check finds no error")
raise SystemExit(seen != {"rent": 150, "sport": 150} or (scores["rent"].item(), scores["sport"].item()) != (50, -50))
END
