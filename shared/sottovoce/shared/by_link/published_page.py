"""The page of a published question: the same for all, with the question in its place."""

from sottovoce.shared import canonical

EMPTY = '<script type="application/json" id="published">{}</script>'
"""What stands in the page in the place of a question."""


def published_page(page: bytes, document: bytes, institution: str) -> bytes:
    """Return the page with a question in it.

    Args:
        page: with ``EMPTY``.
        document: canonical bytes of a ``LinkQuestion``.
        institution: name of who publishes it; "" for none.
    """
    held = b'{"institution":%s,"question":%s}' % (canonical.dump(institution), document)
    # Nothing in it ends the element that it stands in.
    return page.replace(EMPTY.encode(), EMPTY.encode().replace(b"{}", held.replace(b"<", b"\\u003c")))
