"""Makes ``docs/problems.md`` of what the aggregator explains itself: ``python -m tests.problem_pages``."""

from pathlib import Path

from sottovoce.aggregator.http.problem_docs import EXPLANATIONS
from sottovoce.aggregator.http.problems import STATUS, TITLES

PAGE = Path(__file__).parents[1] / "docs" / "problems.md"

HEAD = """# Problems, code by code

Written by `python -m tests.problem_pages` from `http/problem_docs.json`; change it there. Every error of the API is a
problem document (RFC 9457): its `type` is `/problems/CODE`, and the aggregator shows this text at that address.
"""


def page() -> str:
    return HEAD + "".join(map(_section, sorted(EXPLANATIONS))) + "\nNext: [who may do what](access.md).\n"


def _section(code: str) -> str:
    found = EXPLANATIONS[code]
    told = f"{found.happened}\n\nWho can act: {found.turn[0].lower()}{found.turn[1:]}. {found.remedy}"
    return f"\n## {code}\n\n{TITLES[code]} (HTTP {STATUS[code]}).\n\n{told}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
