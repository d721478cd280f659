"""A style that asks for something is told from one that does not."""

import pytest
from sottovoce.audit.page_style import check_styles, fetches
from sottovoce.client.page import assemble


@pytest.mark.parametrize(
    "style",
    [
        'input:checked { background: url("/yes.png"); }',
        "@IMPORT 'more.css';",
        "a { background: image-set('a.png' 1x); }",
        r"input:checked { background: u\72 l(/yes.png); }",
        r"input:checked { background: \url(/yes.png); }",
        "@font-face { src: URL(/f.woff2); }",
    ],
)
def test_style_that_asks_for_something(style: str) -> None:
    """However it is spelled."""
    assert fetches(style)


@pytest.mark.parametrize(
    "style",
    ["a { color: red; }", "a { background: url(data:image/gif;base64,AA); }", r'td::before { content: "\a0: "; }',
     "/* url(/x) */"],
)  # fmt: skip
def test_style_that_asks_for_nothing(style: str) -> None:
    """Or for what stands in it."""
    assert not fetches(style)


def test_own_style_asks_for_nothing() -> None:
    """That of the page."""
    assert check_styles(assemble()) == []
