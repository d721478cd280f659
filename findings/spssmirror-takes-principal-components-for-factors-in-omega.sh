#!/bin/sh
# Expected of McDonald's omega: of items that measure one thing equally well it is Cronbach's alpha (McDonald 1999). Of three items that
# correlate by .25, each loads .5 on the factor, and both are (3 * .5)^2 / ((3 * .5)^2 + 3 * .75) = .50.
# Seen: alpha .50 and omega .75, more than the .70 that it asks of a scale. Its loadings are those of the first principal component, .71
# for .5, which takes the noise of an item for what the items share.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check spssmirror==2.1.1 pandas==2.3.3 numpy==2.2.6 scipy==1.15.3 statsmodels==0.14.5
env/bin/python -W ignore - <<'END'
from importlib.metadata import version
from itertools import product

import pandas
from spssmirror import SPSSMirror

people = [answers for answers in product((0, 1), repeat=3) for _ in range(7 if len(set(answers)) == 1 else 3)]
items = ["first", "second", "third"]
table = pandas.DataFrame(people, columns=items)
study = SPSSMirror()
study.load_dataframe(table)
alpha, omega = study.cronbach_alpha(items), study.mcdonald_omega(items)
correlations = table.corr().to_numpy()[[0, 0, 1], [1, 2, 2]].round(6).tolist()
seen = [round(result.statistic, 3) for result in (alpha, omega)]
print("spssmirror", version("spssmirror"))
print("correlations", correlations, "alpha", seen[0], "omega", seen[1], "asked for", omega.threshold)
print("loadings", [round(abs(each), 3) for each in omega.details["factor_loadings"]])
raise SystemExit(correlations != [0.25] * 3 or seen != [0.5, 0.75])
END
