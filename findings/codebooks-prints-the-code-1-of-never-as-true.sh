#!/bin/sh
# Expected of a codebook: the codes that stand in the file, or their labels.
# Seen: of any question with two codes, 1 is printed as True and 0 as False, whatever they stand for. Of codes 1 (never) and 2 (at
# least once), 1 is True and 2 is 2: six of ten people who never did it are six for whom it is true.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check codebooks==0.0.7 pandas==2.3.3 numpy==2.2.6 tqdm==4.67.1
printf 'variable,description\ncheated,"Have you ever cheated? 1 never, 2 at least once"\n' > words.csv
printf 'cheated,age\n1,20\n1,31\n1,42\n1,53\n1,64\n1,75\n2,26\n2,37\n2,48\n2,59\n' > answers.csv
env/bin/codebooks --quiet --desc words.csv --output book.html answers.csv
env/bin/python - <<'END'
import re
from importlib.metadata import version
from pathlib import Path

page = Path("book.html").read_text(encoding="utf-8")
row = page[page.index("<strong>cheated</strong>"):page.index("<strong>age</strong>")]
cells = [cell for cell in re.sub(r"<[^>]+>", "|", row).split("|") if cell.strip()]
print("codebooks", version("codebooks"))
print(cells)
raise SystemExit(cells[8:14] != ["True", "6", "60.0%", "2", "4", "40.0%"])
END
