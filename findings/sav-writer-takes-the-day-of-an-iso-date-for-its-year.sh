#!/bin/sh
# Expected of two writers of .sav files, for a date given as the text 2026-09-14, as programs and browsers write it: that day, or an error.
# Seen: texts are read as day, month, year, and what does not fit is passed over: 2026-09-14 becomes 20 September 2014, 2026-09-01 becomes
# 20 September 2001. Seconds of a time of day are read as hundredths: from 10:00:05 to 10:00:50 no time goes by.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts sav-writer@1.0.0 @codious/sav-reader-writer@1.1.4
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==2.3.3 numpy==2.0.2
cat > write.js <<'END'
const { writeFileSync } = require("fs");
const { saveToFile, VariableType } = require("sav-writer");
const other = require("@codious/sav-reader-writer");
const variables = (types) => [
  { name: "day", label: "Day of the interview", type: types.Date, width: 11, decimal: 0, columns: 11 },
  { name: "begun", label: "Begun", type: types.DateTime, width: 20, decimal: 0, columns: 20 },
  { name: "ended", label: "Ended", type: types.DateTime, width: 20, decimal: 0, columns: 20 },
];
const times = { begun: "14-09-2026 10:00:05", ended: "14-09-2026 10:00:50" };
const rows = ["2026-09-14", "2026-09-01", "2026-12-24"].map((day) => ({ day, ...times }));
saveToFile("sav-writer.sav", rows, variables(VariableType));
writeFileSync("@codious+sav-reader-writer.sav", other.toBuffer(rows, variables(other.VariableType)));
END
TZ=UTC node write.js
env/bin/python - <<'END'
import json
from pathlib import Path

import pyreadstat

seen = []
for name in ("sav-writer", "@codious/sav-reader-writer"):
    read, _ = pyreadstat.read_sav(f"{name.replace('/', '+')}.sav")
    seen.append(([str(day) for day in read["day"]], {str(each) for each in read["ended"] - read["begun"]}))
    print(name, json.loads(Path("node_modules", name, "package.json").read_text())["version"])
    print("  2026-09-14, 2026-09-01, 2026-12-24 ->", *seen[-1][0])
    print("  from 10:00:05 to 10:00:50 ->", *seen[-1][1])
wanted = (["2014-09-20", "2001-09-20", "2024-12-20"], {"0 days 00:00:00"})
raise SystemExit(seen != [wanted, wanted])
END
