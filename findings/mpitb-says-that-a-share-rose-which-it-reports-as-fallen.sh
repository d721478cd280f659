#!/bin/sh
# Expected of a change between two waves: the difference of the two figures that the same program reports for them.
# Seen: the censored headcount, the share of all people who are poor and deprived of water, is 20 % in 2020 and 8 % in 2025. The change
# of the same measure is given as +30 points, with p below .001: there it is the share among the poor, 50 % and 80 %. The standard error
# counts the people of both waves in each, and is smaller than that of two waves of 100 by the root of 2.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check mpitb==0.2 pandas==2.3.3 numpy==2.2.6 scipy==1.15.3
env/bin/python - <<'END'
from importlib.metadata import version
from math import sqrt

import pandas
from mpitb.core import MPIToolbox

# Of 100 people each: deprived of health, school, water, power; poor from two of four on.
waves = {
    2020: {(1, 1, 1, 0): 20, (1, 1, 0, 1): 20, (0, 0, 0, 0): 60},
    2025: {(1, 1, 1, 0): 8, (1, 1, 0, 1): 2, (0, 0, 0, 0): 90},
}
rows = [(year, *row) for year, people in waves.items() for row, number in people.items() for _ in range(number)]
table = pandas.DataFrame(rows, columns=["year", "health", "school", "water", "power"])
tools = MPIToolbox()
tools.set(name="poor", dimensions=[(["health", "school"], "human"), (["water", "power"], "house")])
levels = pandas.DataFrame(tools.est(table, "poor", [50], over=["year"]))
levels = levels[(levels["measure"] == "hdk") & (levels["indicator"] == "water")].set_index("subg")["b"]
changes = pandas.DataFrame(tools.est_cot(table, "poor", "year", [50], cotmeasures=["H", "hdk"])).query("change_type == 'total'")
change = changes.set_index("measure").loc[["H", "hdk_water"], ["raw", "se", "pval"]]
error = sqrt(0.4 * 0.6 / 100 + 0.1 * 0.9 / 100)
print("mpitb", version("mpitb"), "hdk of water:", {year: round(float(levels[year]), 3) for year in waves})
print(change.round(4).to_string(), f"\nstandard error of the change of H, by hand: {error:.4f}")
(fell, small, _), (rose, _, surely) = change.to_numpy()
levels_fell = abs(levels[2020] - 0.2) < 1e-9 and abs(levels[2025] - 0.08) < 1e-9
raise SystemExit(bool(not levels_fell or abs(rose - 0.3) > 1e-9 or surely > 0.001 or abs(fell + 0.3) > 1e-9 or abs(small * sqrt(2) - error) > 1e-6))
END
