#!/bin/sh
# openapi-python-client 0.29.1 makes a client of a description (OpenAPI 3.1) with an optional property that can only be true.
# Expected: a client that can be imported, or a warning that the property is left out.
# Seen: it ends well, and the model raises SyntaxError when it is imported.
# It matters for whoever makes a client of a survey server: JSON schemas write a flag of a trial run in this way.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "openapi-python-client==0.29.1"
cat > seen.py <<'PROGRAM'
import json
import os
import py_compile
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

links = {"type": "object", "title": "Links", "properties": {"trial": {"const": True}}}
described = {
    "openapi": "3.1.0",
    "info": {"title": "Links", "version": "1"},
    "paths": {
        "/links": {
            "get": {
                "operationId": "links",
                "responses": {"200": {"description": "x", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Links"}}}}},
            }
        }
    },
    "components": {"schemas": {"Links": links}},
}
Path("api.json").write_text(json.dumps(described))
place = os.path.dirname(sys.executable)
command = [os.path.join(place, "openapi-python-client"), "generate", "--path", "api.json", "--output-path", "client", "--meta", "none"]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("openapi-python-client", version("openapi-python-client"))
try:
    py_compile.compile("client/models/links.py", doraise=True)
except py_compile.PyCompileError as error:
    print("SyntaxError" in str(error) and "the model of Links is no Python: SyntaxError")
    sys.exit(0)
sys.exit("the model can be compiled now")
PROGRAM
env/bin/python seen.py
