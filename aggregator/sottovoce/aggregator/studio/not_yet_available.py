"""What stands on the pages that a survey has only once it is published, while it is still a draft."""

from flask import render_template
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.studio.survey_frame import frame_of


def later(name: str, page: str) -> str | None:
    """
    That the page comes with publishing, and what there is until then; None of what is no draft, or was published.

    Args:
        name: the draft's.
        page: its word, of which there is a sentence ``later_`` and the word.
    """
    if storage().revisions(name) or drafts.kept_draft(name) is None:
        return None
    return render_template("later.html", page=page, frame=frame_of(name, page))
