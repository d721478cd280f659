#!/bin/sh
# Expected of a date of a survey, given as the text 01-03-2026: that date is in the file, wherever the computer stands.
# Seen: the date's midnight is taken in the computer's time zone and written as a time of Greenwich. In Berlin the date in the file
# is the day before, 28 February, so that an interview falls into the month before; in New York the day is right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts sav-writer@1.0.0
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==2.3.3 numpy==2.0.2
cat > write.js <<'END'
const { saveToFile, VariableType } = require("sav-writer");
const day = { name: "day", label: "Day of the interview", type: VariableType.Date, width: 11, decimal: 0, columns: 11 };
saveToFile(process.argv[2], [{ day: "01-03-2026" }], [day]);
END
TZ=Europe/Berlin node write.js berlin.sav
TZ=America/New_York node write.js new_york.sav
env/bin/python - <<'END'
import json
from importlib.metadata import version
from pathlib import Path

import pyreadstat

writer = json.loads(Path("node_modules/sav-writer/package.json").read_text())["version"]
print("sav-writer", writer, "read by pyreadstat", version("pyreadstat"))
days = {place: str(pyreadstat.read_sav(f"{place}.sav")[0]["day"][0]) for place in ("berlin", "new_york")}
print("1 March 2026, written in", days)
raise SystemExit(days != {"berlin": "2026-02-28", "new_york": "2026-03-01"})
END
