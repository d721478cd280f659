#!/bin/sh
# Expected of patch_redcap_csv, which puts the corrected cells of several CSV files into an export of REDCap: every cell that a file
# has is set ("column present with a value -> cell set"), in whatever order the files are named.
# Seen: a question whose first correction comes after those of a hundred other people is not corrected at all. Ten people's answers
# to q2 are lost without a word where the file about q1 is named first, and set where it is named last.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check redcap-toolbox==2026.10.26 polars==2.1.0
env/bin/python - <<'END'
from pathlib import Path


def write(name, columns, rows):
    Path(name).write_text("".join(",".join(map(str, row)) + "\n" for row in [columns, *rows]))


write("export.csv", ["record_id", "q1", "q2"], [(person, 1, 1) for person in range(1, 131)])
write("first.csv", ["record_id", "q1"], [(person, 2) for person in range(1, 121)])
write("second.csv", ["record_id", "q2"], [(person, 2) for person in range(121, 131)])
END
env/bin/patch_redcap_csv export.csv first.csv second.csv > one.csv 2> said
env/bin/patch_redcap_csv export.csv second.csv first.csv > other.csv 2>> said
env/bin/python - <<'END'
import csv
from importlib.metadata import version
from pathlib import Path

print("redcap-toolbox", version("redcap-toolbox"), "polars", version("polars"))
corrected = []
for name in ("one.csv", "other.csv"):
    rows = list(csv.DictReader(Path(name).read_text().splitlines()))
    corrected.append([sum(row[question] == "2" for row in rows) for question in ("q1", "q2")])
print("answers corrected in q1 and q2, of 120 and 10:", *corrected)
print("said:", Path("said").read_text() or "nothing")
raise SystemExit(corrected != [[120, 0], [120, 10]] or Path("said").read_text() != "")
END
