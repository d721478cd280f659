#!/bin/sh
# Expected of ETS's classes of differential item functioning: an item is unfair, "C", where people of the same ability answer it
# otherwise in one group than in the other. Where every item is as difficult for both groups, all are negligible, "A".
# Seen: the class is made of each group's plain share of right answers. Where one group's ability is lower by 1.5, all ten fair items
# are C, beside differences of difficulty, in the same table, that are about 0 and that no test finds.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check rasch-per==0.1.0 pandas==2.3.3 numpy==2.2.6 scipy==1.15.3
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import pandas
from rasch_per import DIFAnalysis, RaschModel, ResponseData

draws = numpy.random.default_rng(1)
ability = numpy.concatenate([draws.normal(0, 1, 800), draws.normal(-1.5, 1, 800)])
group = numpy.repeat(["old", "new"], 800)
difficulty = numpy.linspace(-1, 1, 10)
chance = 1 / (1 + numpy.exp(difficulty - ability[:, None]))
answers = pandas.DataFrame((draws.random(chance.shape) < chance).astype(int), columns=[f"item{number}" for number in range(10)])
table = DIFAnalysis(RaschModel().fit(ResponseData(answers)), groups=group, reference="old", focal="new").analyze().summary()
print("rasch-per", version("rasch-per"))
print(table[["dif", "flag", "ets_delta", "ets_class"]].round(2).to_string())
raise SystemExit(set(table["ets_class"]) != {"C"} or bool(table["flag"].any()) or float(table["dif"].abs().max()) > 0.4)
END
