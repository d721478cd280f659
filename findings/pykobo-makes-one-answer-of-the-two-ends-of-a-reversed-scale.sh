#!/bin/sh
# Expected of labels in the place of names of choices: each answer of a form of KoboToolbox becomes the label of its own choice.
# Seen: labels are put in one choice after the other, into the same column, and a label that is the name of a later choice is replaced
# again. Of a scale whose names 1 to 5 are shown as 5 to 1, as for items that are turned round, 1 and 5 are both 1 and 2 and 4 both 2:
# a mean of 4.0 becomes 1.2, without a warning.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pykobo==0.1.7 pandas==2.3.3 numpy==2.2.6 requests==2.32.5
env/bin/python -W ignore - <<'END'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version

from pykobo import Manager

names = ["1", "1", "1", "2", "5"]
days = {"date_created": "2026-11-02", "date_modified": "2026-11-02"}
question = {"type": "select_one", "name": "trust", "$autoname": "trust", "label": ["Trust"], "select_from_list_name": "five"}
choices = [{"list_name": "five", "name": str(name), "label": [str(6 - name)]} for name in range(1, 6)]


class Kobo(BaseHTTPRequestHandler):
    def do_GET(self):
        asset = {"uid": "a", "name": "Trust", "owner__username": "x", "version_id": "v", "has_deployment": True, **days}
        asset |= {"url": f"{here}/asset", "data": f"{here}/data", "asset_type": "survey", "deployment__submission_count": 5}
        asset |= {"summary": {"geo": False}, "content": {"survey": [question], "choices": choices}}
        results = [{"_id": at, "trust": name} for at, name in enumerate(names)] if self.path == "/data" else [asset]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(asset if self.path == "/asset" else {"results": results}).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Kobo)
here = f"http://127.0.0.1:{server.server_port}"
threading.Thread(target=server.serve_forever, daemon=True).start()
form = Manager(here, 2, "token").get_form("a")
form.fetch_data()
form.display(choices_as="label")
labels = form.data["trust"].tolist()
right = [str(6 - int(name)) for name in names]
print("pykobo", version("pykobo"))
print("names", names, "labels of the form", right, "mean", sum(map(int, right)) / 5)
print("labels by pykobo", labels, "mean", sum(map(int, labels)) / 5)
raise SystemExit(labels != ["1", "1", "1", "2", "1"])
END
