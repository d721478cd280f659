"""Merge groups of people by a public answer until no stratum (revision, wave) shows fewer people than a minimum."""

from collections import Counter
from collections.abc import Iterable, Mapping

Sizes = Counter[tuple[int, int]]
"""Reports by (revision, wave)."""


def merge_small(sizes: Mapping[int, Sizes], least: int) -> list[list[int]]:
    """Return the groups: each answer alone, except that small ones are merged (last) until no group is small.

    A group is small with fewer than ``least`` reports in a stratum that is not empty. The result is empty if all
    answers together are still too small.
    """
    # Smallest first: groups then merge as few respondents as possible. Ties break by index, to be reproducible.
    by_size = sorted(sizes, key=lambda answer: (sizes[answer].total(), answer))
    joined = [answer for answer in by_size if _is_small(sizes[answer], least)]
    rest = [answer for answer in by_size if answer not in joined]
    while rest and _is_small(_added(sizes, joined), least):
        joined.append(rest.pop(0))
    if _is_small(_added(sizes, joined), least):
        return []
    return [*([answer] for answer in sorted(rest)), *([sorted(joined)] if joined else [])]


def _added(sizes: Mapping[int, Sizes], answers: Iterable[int]) -> Sizes:
    return sum((sizes[answer] for answer in answers), Counter())


def _is_small(sizes: Sizes, least: int) -> bool:
    return any(0 < size < least for size in sizes.values())
