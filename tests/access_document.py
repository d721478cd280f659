"""Makes ``docs/access.md`` from the table of rights: ``python -m tests.access_document``."""

from pathlib import Path

from sottovoce.aggregator.accounts.authentication import ADMIN, ANY_SCOPE, NO_KEY, RIGHTS, STAFF
from sottovoce.aggregator.storage.accounts.models import ROLES

DOCUMENT = Path(__file__).parents[1] / "docs" / "access.md"

_HEAD = """# Who may do what

Made from `RIGHTS` in `aggregator/sottovoce/aggregator/accounts/authentication.py` by
`python -m tests.access_document`; a test walks every route with every role. What is not in the table is not allowed.
Respondents have no accounts, and nothing here concerns their routes.

A member of staff has an account, without a password, and roles on one survey or on all:

* **owner**: everything of the survey;
* **analyst**: results, tables, models, files;
* **fieldwork**: personal links and their counts, the number of reports in steps, no results;
* **viewer**: the pages with results.

**Admin** is a property of the account: accounts, settings, journal, metrics, and no results without a role. A
survey on which an account has no role answers as if it did not exist: 404. What its role does not allow is 403.

A key can do at most what its account can, limited to its scopes and its survey; no key opens a page. A key with
every scope, for every survey, also signs its owner in. The account that publishes a survey of a new name owns it:
admins, and owners of another one, may.

"""


def document() -> str:
    columns = [*ROLES, ADMIN]
    lines = [f"| route | {' | '.join(columns)} | scope of a key |", "|---" * (len(columns) + 2) + "|"]
    for endpoint, right in RIGHTS.items():
        cells = ["yes" if {column, STAFF} & right.who else "" for column in columns]
        scope = {NO_KEY: "no key", ANY_SCOPE: "any"}.get(right.scope, f"`{right.scope}`")
        lines.append(f"| `{endpoint}` | {' | '.join(cells)} | {scope} |")
    return _HEAD + "\n".join(lines) + "\n\nNext: [the journal](journal.md).\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
