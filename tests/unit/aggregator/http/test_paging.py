import pytest
from sottovoce.aggregator.http.paging import MOST, page_of
from sottovoce.aggregator.http.problems import Refusal


def pages(rows: list[int], limit: int) -> list[list[int]]:
    page = page_of(rows, int, {"limit": str(limit)})
    found = [list(page.rows)]
    while page.next is not None:
        page = page_of(rows, int, {"limit": str(limit), "cursor": page.next})
        found.append(list(page.rows))
    return found


def test_pages_are_the_list_whatever_goes_meanwhile() -> None:
    rows = [5, 1, 4, 40, 30, 20]
    for limit in (1, 2, 3, 6, 7, 1000):
        found = pages(rows, limit)
        assert [row for page in found for row in page] == sorted(rows)
        assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)
        assert all(found)

    assert page_of([], int, {}).document(int) == {"items": [], "next": None}

    first = page_of([1, 2, 3, 4], int, {"limit": "2"})
    assert list(page_of([1, 3, 4], int, {"limit": "2", "cursor": first.next or ""}).rows) == [3, 4]


@pytest.mark.parametrize("limit", ["", "0", "-1", "1.5", "x", "²", str(MOST + 1), "9" * 5000])
def test_limit_that_is_none_is_refused(limit: str) -> None:
    with pytest.raises(Refusal) as refused:
        page_of([1], int, {"limit": limit})
    assert refused.value.detail == "limit is a whole number from 1 to 1,000"


@pytest.mark.parametrize("cursor", ["", "x", "é", "LTE", "MQ==", "MDE", "MSA", "####", "M" * 30_000])
def test_cursor_that_is_none_is_refused(cursor: str) -> None:
    with pytest.raises(Refusal) as refused:
        page_of([1], int, {"cursor": cursor})
    assert refused.value.code == "malformed"
