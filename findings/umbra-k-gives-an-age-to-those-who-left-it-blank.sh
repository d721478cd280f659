#!/bin/sh
# Expected of a file that is made k-anonymous: a blank stays one, or becomes one with others ("61 or blank"), as a reader would need to know.
# Seen: blanks are sorted behind the highest age, and a group's range is that of the ages in it. Who declined to say an age is
# 61 in the file that is given away; of ten people, three are 61 in the place of one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check umbra-k==0.1.0 pandas==2.3.3 numpy==2.2.6 scikit-learn==1.7.2
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
from umbra_k import MondrianAnonymizer

people = pandas.DataFrame({"age": [20, 21, 25, 30, 35, 40, None, None, 60, 61]})
given = MondrianAnonymizer(k=2, quasi_id=["age"]).fit_transform(people)["age"]
print("umbra-k", version("umbra-k"))
print(pandas.DataFrame({"age": people["age"], "given away": given}).to_string(index=False))
declined = given[people["age"].isna()].tolist()
raise SystemExit(declined != ["61.0", "61.0"] or given.tolist().count("61.0") != 3)
END
