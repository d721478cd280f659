#!/bin/sh
# Expected of weights that fit a sample to the population of its country by age, sex and town or village: the weighted share of women is
# that of the population that the package ships.
# Seen: raking adds up one weight for each combination of answers, not for each person in it: 40 men and 10 women of each age and place
# count as one man and one woman. Of Germany, with 51 % women, 21 % are women with weights and 20 % without. The single step has
# 23 %: its weights, too, are put to scale by combinations, and nearly all are cut at 20.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check globalmind==0.0.8 polars==1.44.2
env/bin/python - <<'END'
from importlib.metadata import version
from pathlib import Path

import globalmind
import polars

population = polars.read_csv(Path(globalmind.__file__).parent / "_data" / "pop_age_sex.csv")
germany = population.filter((polars.col("country") == "Germany") & (polars.col("year") == 2023))
target = germany["pop_female"].sum() / germany["pop_total"].sum()
PLACES = ("A large city", "A rural or remote community")
rows = [
    {"country": "Germany", "year": 2023, "age": age, "biological_sex": sex, "gender": None, "rural_urban": place}
    for age in germany["age_group"]
    for place in PLACES
    for sex, people in (("Male", 40), ("Female", 10))
    for _ in range(people)
]
people = polars.DataFrame(rows, schema_overrides={"gender": polars.String})


def share_of_women(weighted):
    weight = weighted["_weight"]
    return float((weight * (weighted["biological_sex"] == "Female")).sum() / weight.sum())


seen = [
    round(share_of_women(weigh(people.lazy()).collect()), 3)
    for weigh in (globalmind.iterative_proportional_fitting, globalmind.simple_stratification)
]
print("globalmind", version("globalmind"), "polars", version("polars"), "people:", people.height)
print(f"women in the population {target:.3f}, in the sample 0.2; with weights by raking {seen[0]}, in a single step {seen[1]}")
raise SystemExit(seen != [0.208, 0.234] or round(target, 2) != 0.51)
END
