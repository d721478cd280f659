#!/bin/sh
# Expected of get_period_bounds(day, "biweekly"): "the (start, end) dates of the aggregation period containing" the day, as its text says.
# Seen: a year of 53 weeks has a last week in no period. Every day from 28 December 2026 to 3 January 2027 gets the two weeks that
# ended on 27 December: its answers come into a figure that was published, or, where days are compared with the bounds, into none.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check dp-group-stats==0.1.2
env/bin/python - <<'END'
from datetime import date, timedelta
from importlib.metadata import version

from dp_group_stats import get_period_bounds

print("dp-group-stats", version("dp-group-stats"))
for day in (date(2026, 12, 27), date(2026, 12, 28), date(2027, 1, 3), date(2027, 1, 4)):
    print(day, "is in the two weeks", *get_period_bounds(day, "biweekly"))
days = [date(2020, 1, 1) + timedelta(days=number) for number in range(3000)]
outside = {}
for kind in ("weekly", "biweekly", "monthly"):
    bounds = ((day, *get_period_bounds(day, kind)) for day in days)
    outside[kind] = [day for day, start, end in bounds if not start <= day <= end]
print("days of 2020 to 2028 outside their period:", {kind: len(found) for kind, found in outside.items()})
weeks = [date(2020, 12, 28) + timedelta(days=number) for number in range(7)]
weeks += [date(2026, 12, 28) + timedelta(days=number) for number in range(7)]
raise SystemExit(outside != {"weekly": [], "biweekly": weeks, "monthly": []})
END
