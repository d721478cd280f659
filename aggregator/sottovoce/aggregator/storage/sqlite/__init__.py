"""Storage in SQLite.

Where pandas is installed, sqlite-utils loads it to write its numbers: 25 MB and .2 s that no server needs.
"""

import sys

if sys.modules.setdefault("pandas", None) is None:  # type: ignore[arg-type]
    import sqlite_utils.db  # noqa: F401

    del sys.modules["pandas"]
