#!/bin/sh
# Expected of a writer of .sav files: an answer that is null, as JSON has it for a question left blank, is the system's missing value.
# Seen: it is written as 0, and so is an empty text. Where 0 is the code of no, who declined has said no, and the share of yes falls.
# Only a key that is not there is missing.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts sav-writer@1.0.0
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==2.3.3 numpy==2.0.2
node - <<'END'
const { saveToFile, VariableType } = require("sav-writer");
const labels = [{ value: 0, label: "no" }, { value: 1, label: "yes" }];
const cheated = {
  name: "cheated", label: "Have you cheated?", type: VariableType.Numeric, width: 1, decimal: 0, columns: 8, valueLabels: labels,
};
const answers = JSON.parse('[{"cheated": 1}, {"cheated": 0}, {"cheated": null}, {"cheated": ""}, {}]');
saveToFile("answers.sav", answers, [cheated]);
END
env/bin/python - <<'END'
import json
from importlib.metadata import version
from pathlib import Path

import pyreadstat

said, _ = pyreadstat.read_sav("answers.sav", apply_value_formats=True)
writer = json.loads(Path("node_modules/sav-writer/package.json").read_text())["version"]
labels = [None if answer != answer else answer for answer in said["cheated"]]
print("sav-writer", writer, "read by pyreadstat", version("pyreadstat"))
print("yes, no, null, empty text, no key ->", labels)
raise SystemExit(labels != ["yes", "no", "no", "no", None])
END
