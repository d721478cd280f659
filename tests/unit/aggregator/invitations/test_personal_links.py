"""Tables of personal links."""

from collections.abc import Iterator
from io import StringIO

from sottovoce.aggregator.invitations.personal_links import links_csv, write_links


def test_rows_are_written_as_they_come() -> None:
    """A million links never lie in memory at once: each is in the file before the next but one is asked for."""
    file, lines = StringIO(newline=""), []

    def links() -> Iterator[tuple[str, str]]:
        for number in range(4):
            lines.append(file.getvalue().count("\n"))
            yield f"t{number}", f"https://survey.example.org/{number}"

    write_links(file, links(), trial=False)
    assert lines == [0, 2, 3, 4]
    assert file.getvalue() == links_csv(list(links()), trial=False)


def test_table_without_links_has_its_heading() -> None:
    """And for a test run the line that says so."""
    assert links_csv([], trial=False) == "token,link\r\n"
    assert links_csv([], trial=True).endswith("\r\ntoken,link\r\n")
