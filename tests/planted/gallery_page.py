"""Makes ``docs/dishonest_clients.md`` of the gallery: ``python -m tests.planted.gallery_page``."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.planted.gallery import CLASSES, CLIENTS, FAILED, HONEST, NOT_SEEN, UNSEEN, PlantedClient

PAGE = Path(__file__).parents[2] / "docs" / "dishonest_clients.md"

HEAD = """# Dishonest clients, and what the audit says of them

Written by `python -m tests.planted.gallery_page` from `tests/planted/gallery_python.yaml` and
`gallery_javascript.yaml`, where each client stands as an edit of the sources. What the audit must say of each was
written down before the audit was made to say it. `make slow` plants every client in a copy of the sources, runs the
command `sottovoce audit` there, and holds its verdict and the part that sees the client to these tables
(`tests/planted/test_gallery.py`); where no part is named only the verdict is held. Nothing in the audit knows any of
them.

{counts}

What the parts of an audit do: [testing the claim](auditing.md).
"""

CLASS_HEAD = """| client | language | survey | breaks | verdict | seen by |
|---|---|---|---|---|---|
"""

UNSEEN_HEAD = """
## What no audit of this kind sees

An audit runs a client and looks at what it does. Whoever does something else only where nobody looks is not seen: not
all combinations of answers, ids and random bytes can be run, and a program can tell when and where it runs. The
sentence at the end of an audit's report names these classes. Against them helps what an audit is not: the sources,
which can be read, and the comparison of the served files with those of a release (`--client`).

| class | client | language | survey | why it is not seen |
|---|---|---|---|---|
"""

HONEST_HEAD = """
## Honest clients that look different

None of them may alarm.

| client | language | survey |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    found = [_of_class(kind) for kind in CLASSES]
    return "".join([HEAD.format(counts=_counts()), *found, UNSEEN_HEAD, *_unseen(), HONEST_HEAD, *_honest()])


def _counts() -> str:
    """How many there are of each."""
    seen, unseen, honest = ([each for each in CLIENTS if each.verdict == verdict] for verdict in _VERDICTS)
    return (
        f"Of {len(CLIENTS)} clients {len(seen)} must fail, {len(unseen)} are of the classes that no audit of this kind "
        f"sees, and {len(honest)} are honest and must pass."
    )


_VERDICTS = (FAILED, NOT_SEEN, "passed")


def _of_class(kind: str) -> str:
    """The clients of one class that are seen."""
    head = f"\n## Dishonest: {kind}\n\n{CLASS_HEAD}"
    of_it = (each for each in CLIENTS if each.kind == kind and each.verdict == FAILED)
    return head + "".join(_row(each.name, *_where(each), each.promise, each.verdict, each.seen_by) for each in of_it)


def _unseen() -> Iterator[str]:
    """The others, class by class."""
    for kind in UNSEEN:
        yield from (_row(kind, each.name, *_where(each), each.reason) for each in CLIENTS if each.unseen == kind)


def _honest() -> Iterable[str]:
    return (_row(each.name, *_where(each)) for each in CLIENTS if each.kind == HONEST)


def _where(client: PlantedClient) -> tuple[str, str]:
    language = {"python": "Python", "javascript": "JavaScript"}[client.language]
    return language, f"`{client.survey}`"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.strip() for cell in cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
