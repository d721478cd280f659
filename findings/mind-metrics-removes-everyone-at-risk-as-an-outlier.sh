#!/bin/sh
# Expected of a cleaner of answers about mental health that takes statistical outliers out: an odd number goes. A yes or no has none.
# Seen: of a column of 0 and 1 with fewer than a quarter of 1, quartiles are 0 and 0, so that everyone with a 1 lies outside them and is
# deleted, with all other answers: of 1,000 people of whom 200 are at risk, none is. So it is with days off, where most took none. The
# summary counts the rows that went, not why.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check mind-metrics==1.0.1 pandas==2.3.3 numpy==2.2.6
MPLCONFIGDIR="$folder" env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from mind_metrics.data.cleaner import DataCleaner

people = pandas.DataFrame(
    {
        "EmployeeID": range(1000),
        "StressLevel": [number % 11 for number in range(1000)],
        "MentalHealthDaysOff": [3 if number % 10 == 1 else 0 for number in range(1000)],
        "BurnoutRisk": [int(number % 5 == 0) for number in range(1000)],
    }
)
cleaner = DataCleaner()
kept = cleaner.clean(people)
seen = [(len(table), table["BurnoutRisk"].mean(), int((table["MentalHealthDaysOff"] > 0).sum())) for table in (people, kept)]
print("mind-metrics", version("mind-metrics"))
for name, (rows, share, days) in zip(("given:", "cleaned:"), seen, strict=True):
    print(name, rows, "people, at risk", share, ", took a day off", days)
print("summary:", cleaner.get_cleaning_summary())
raise SystemExit(seen != [(1000, 0.2, 100), (700, 0.0, 0)])
END
