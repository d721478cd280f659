#!/bin/sh
# Expected of Mantel and Haenszel's pooled figures: those of a single school are the school's own, and a difference of shares is no
# more than 1.
# Seen: of a school where 30 of 40 boys and 70 of 160 girls cheated, the ratio of shares is 3.00 in the place of 1.71, and their
# difference 10.0 in the place of .31; the limits of the odds ratio are 2.07 to 7.18 in the place of 1.77 to 8.42. The table has cases
# in its rows, and the pooled ratio takes the rows for the groups.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check episia==0.1.3 numpy==2.2.6 scipy==1.15.3 pandas==2.3.3
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import numpy
from episia.stats.contingency import Table2x2
from episia.stats.stratified import mantel_haenszel_or

boys_yes, girls_yes, boys_no, girls_no = 30, 70, 10, 90
school = Table2x2(boys_yes, girls_yes, boys_no, girls_no)
pooled = mantel_haenszel_or([school])
shares = boys_yes / (boys_yes + boys_no), girls_yes / (girls_yes + girls_no)
error = (1 / boys_yes + 1 / girls_yes + 1 / boys_no + 1 / girls_no) ** 0.5
limits = [float(numpy.exp(numpy.log(pooled.common_or) + sign * 1.959964 * error)) for sign in (-1, 1)]
print("episia", version("episia"))
print("ratio of shares:", round(shares[0] / shares[1], 2), "; of the table:", round(school.risk_ratio().estimate, 2), "; pooled:", pooled.common_rr)
print("difference of shares:", shares[0] - shares[1], "; of the table:", school.risk_difference()["estimate"], "; pooled:", pooled.common_rd)
found = [round(float(limit), 2) for limit in pooled.or_ci]
print("limits of the odds ratio:", [round(limit, 2) for limit in limits], "; pooled:", found)
raise SystemExit((pooled.common_rr, pooled.common_rd, found) != (3.0, 10.0, [2.07, 7.18]))
END
