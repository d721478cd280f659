"""
What somebody had typed when the session ended: it goes with the page for signing in, and back to where it was posted.

It stands in the pages' own forms and nowhere else: not in a cookie, a log or the database. Whoever posts it again sees
a page with one button first, and the form's own check is made then, as for every form.
"""

import re
from typing import NamedTuple

from flask import request

ADDRESS = "kept_for"
"""The name of the field that says where it was posted."""

MARK = "kept."
"""What stands before the names of the fields, so that they are not taken for those of the page for signing in."""

SIGNED_IN = "signed_in"
"""The button of whoever has signed in elsewhere meanwhile."""

is_page = re.compile(r"/dashboard/[A-Za-z0-9/_.?=&-]{0,500}").fullmatch
"""Pages that one is led back to: of this site, whatever a link or a form says."""


class KeptForm(NamedTuple):
    """
    A form that was posted by nobody.

    Attributes:
        address: where to.
        fields: names and texts, in their order.
    """

    address: str
    fields: tuple[tuple[str, str], ...]


def posted_form() -> KeptForm | None:
    """The form in this request, posted to a page; None if nothing of it was typed or chosen."""
    fields = [(name, text) for name, text in request.form.items(multi=True) if name != "form_token"]
    address = request.full_path.rstrip("?")
    return KeptForm(address, tuple(fields)) if fields and is_page(address) else None


def kept_form() -> KeptForm | None:
    """The form that came along in that of the page for signing in, if there is one."""
    address = request.form.get(ADDRESS, "")
    fields = [(name, text) for name, text in request.form.items(multi=True) if name.startswith(MARK)]
    kept = tuple((name.removeprefix(MARK), text) for name, text in fields)
    return KeptForm(address, kept) if kept and is_page(address) else None
