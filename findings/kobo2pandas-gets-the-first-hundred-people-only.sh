#!/bin/sh
# Expected of a client that fetches the answers to a form of KoboToolbox: all people. Since March 2026 a server gives 100 at a time, 1,000
# where more are asked for, with "count" and the address of the "next" ones (KoboToolbox's notice on results per request).
# Seen: kobo2pandas takes the first page for everybody, in tables and in its Excel file, without a word: of 2,500 people 100, and 1,000
# with limit=5000. Here those who answered later said yes, and none of them is left. The server of this script keeps to the notice.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check kobo2pandas==0.9.0 pandas==2.3.3 numpy==2.2.6 requests==2.32.5 openpyxl==3.1.5
env/bin/python - <<'END'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from urllib.parse import parse_qs, urlsplit

import openpyxl
from kobo2pandas import KoboAPI

PEOPLE = [{"_id": number, "cheated": "yes" if number > 1000 else "no"} for number in range(1, 2501)]


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        at = urlsplit(self.path)
        asked = {name: int(values[0]) for name, values in parse_qs(at.query).items()}
        start, limit = asked.get("start", 0), min(asked.get("limit", 100), 1000)
        end = start + limit
        host = f"http://{self.headers['Host']}{at.path}"
        page = {
            "count": len(PEOPLE),
            "next": f"{host}?limit={limit}&start={end}" if end < len(PEOPLE) else None,
            "previous": None,
            "results": PEOPLE[start:end],
        }
        body = json.dumps(page if at.path.endswith("/data.json") else {"name": "survey"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = KoboAPI("token", endpoint=f"http://127.0.0.1:{server.server_port}/", debug=True)
tables = [client.get_dataframes("form")[0], client.get_dataframes("form", limit=5000)[0]]
client.export_excel("form", "form.xlsx")
rows = openpyxl.load_workbook("form.xlsx").worksheets[0].max_row - 1
seen = [len(table) for table in tables] + [rows, *(int((table["cheated"] == "yes").sum()) for table in tables)]
right = sum(person["cheated"] == "yes" for person in PEOPLE)
print("kobo2pandas", version("kobo2pandas"), "people:", len(PEOPLE), "yes:", right)
print("people in the table, with limit=5000, in Excel:", *seen[:3], "; yes:", *seen[3:])
raise SystemExit(seen != [100, 1000, 100, 0, 0])
END
