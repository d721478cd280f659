#!/bin/sh
# Expected of "lossless compression for data tables: CSV, JSON, Parquet" and of "every cell as the exact text it was", which decodes and
# compares every cell before it writes: answers in JSON come back as they were, or the program says what it leaves out.
# Seen: whoever was not asked (no key) and whoever was asked and gave no answer (null) have an empty text, like one who typed nothing, and
# the number 18 and the answer true are the texts "18" and "true". The same in JSON Lines. It prints sizes, and ends without an error.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polypress==1.0.0
cat > answers.json <<'END'
[{"person": 1, "consents": true, "age": 18, "often": 2.50},
 {"person": 2, "consents": false, "age": null, "often": ""},
 {"person": 3, "consents": true}]
END
env/bin/python -c "import json; [print(json.dumps(row)) for row in json.load(open('answers.json'))]" > answers.jsonl
for name in answers.json answers.jsonl; do
  env/bin/polypress compress $name -o $name.ppz
  env/bin/polypress restore $name.ppz -o restored-$name
done
env/bin/python - <<'END'
import json
from importlib.metadata import version

with open("answers.json") as file, open("restored-answers.json") as whole, open("restored-answers.jsonl") as lines:
    before, after, by_line = json.load(file), json.load(whole), [json.loads(line) for line in lines]
print("polypress", version("polypress"))
for row, restored in zip(before, after, strict=True):
    print("before:", row, "restored:", restored)
blank = {"age": "", "often": ""}
ages = [{"age": "18", "often": "2.50"}, blank, blank]
wanted = [{"person": str(n + 1), "consents": word, **ages[n]} for n, word in enumerate(("true", "false", "true"))]
print("JSON Lines:", by_line[2])
raise SystemExit(after != wanted or [row["age"] for row in by_line] != ["18", "", ""])
END
