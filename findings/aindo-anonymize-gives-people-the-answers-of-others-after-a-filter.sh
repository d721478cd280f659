#!/bin/sh
# Expected of PerturbationCategorical with alpha=0, "no perturbation; values remain unchanged", and of a mask of a postal code: each
# person keeps the own answer and the own code, masked.
# Seen: what comes back is numbered anew from 0 and put into the table by number. Where people were left out beforehand, here those under
# 18, everybody has the answer of another person, and the last ones have none: of 60 adults, 40 have the other answer or a blank. In a
# table that is numbered anew before, all are as they were.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check aindo-anonymize==1.1.5 pandas==2.3.3 numpy==2.2.6 scikit-learn==1.7.2
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from aindo.anonymize import AnonymizationPipeline, Config

people = pandas.DataFrame(
    {
        "age": [17] * 20 + [18] * 20 + [40] * 20 + [70] * 20,
        "cheated": ["no"] * 20 + ["yes"] * 20 + ["no"] * 40,
        "code": [f"{number:05d}" for number in range(80)],
    }
)
steps = [
    {"method": {"type": "perturbation_categorical", "alpha": 0.0}, "columns": ["cheated"]},
    {"method": {"type": "character_masking", "mask_length": 1, "starting_direction": "right"}, "columns": ["code"]},
    {"method": {"type": "identity"}, "columns": ["age"]},
]
pipeline = AnonymizationPipeline(Config.from_dict({"steps": steps}))
adults = people[people["age"] >= 18]
seen = []
for table in (adults, adults.reset_index(drop=True)):
    out = pipeline.run(table)
    changed = int((out["cheated"].astype(object) != table["cheated"]).sum())
    moved = int((out["code"] != table["code"].str[:4] + "*").sum())
    seen.append((len(out), changed, int(out["cheated"].isna().sum()), moved))
print("aindo-anonymize", version("aindo-anonymize"), "pandas", version("pandas"))
for name, numbers in zip(("after a filter:", "numbered anew:"), seen, strict=True):
    print(name, "people %d, other answer or none %d, none %d, code of another or none %d" % numbers)
raise SystemExit(seen != [(60, 40, 20, 60), (60, 0, 0, 0)])
END
