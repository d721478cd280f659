#!/bin/sh
# Expected of replicate weights that are made of a design with schools as its units: all people of a school have the same replicate
# factors, and the standard error is about that of repeated samples, as it is by the jackknife and by linearization. The package's guide
# says that such weights are made from strata and units.
# Seen: successive difference replication is made of lines of the file. People of one school have unlike factors, while the weights are
# recorded as those of schools; that the argument psu changes nothing else stands in the help of that argument only. Where answers
# within a school are alike, the standard error is .03 in the place of .16.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check svy==0.35.0 polars==2.1.0 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import polars
import svy

SCHOOLS, PEOPLE, SAMPLES = 40, 10, 40
schools = numpy.repeat(numpy.arange(SCHOOLS), PEOPLE)
means, errors = [], {"linearization": [], "jackknife": [], "successive differences": []}
for seed in range(SAMPLES):
    draw = numpy.random.default_rng(seed)
    answers = draw.normal(size=SCHOOLS)[schools] + 0.5 * draw.normal(size=SCHOOLS * PEOPLE)
    table = polars.DataFrame({"school": schools, "weight": numpy.ones(SCHOOLS * PEOPLE), "answer": answers})
    sample = svy.Sample(table, svy.Design(psu="school", wgt="weight"))
    made = {"jackknife": sample.weighting.create_jk_wgts(), "successive differences": sample.weighting.create_sdr_wgts(n_reps=80)}
    means.append(answers.mean())
    errors["linearization"].append(sample.estimation.mean("answer").to_polars()["se"][0])
    for name, replicated in made.items():
        errors[name].append(replicated.estimation.mean("answer", method="replication").to_polars()["se"][0])
weights = made["successive differences"]
columns = [name for name in weights.data.columns if name not in table.columns]
unlike = weights.data.group_by("school").agg(polars.col(columns[1]).n_unique()).filter(polars.col(columns[1]) > 1).height
found = {name: round(float(numpy.mean(said)), 3) for name, said in errors.items()}
print("svy", version("svy"), "units of the replicate weights:", weights.design.rep_wgts.psu)
print(f"standard deviation of {SAMPLES} means {numpy.std(means):.3f}, standard errors", found)
print("schools whose people have unlike factors in one replicate:", unlike, "of", SCHOOLS)
right = all(0.13 < found[name] < 0.19 for name in ("linearization", "jackknife"))
raise SystemExit(not right or found["successive differences"] > 0.05 or unlike < 20)
END
