"""Explain the codes of problem documents, also published as ``docs/problems.md``."""

from typing import NamedTuple


class Explanation(NamedTuple):
    """Explanation of a code: what happened, whose turn it is to act, and the remedy."""

    happened: str
    turn: str
    remedy: str


SENDER = "The sender of the request"
RESEARCHER = "The researcher"
OPERATOR = "The operator of the aggregator"
NO_ONE = "No one"

EXPLANATIONS = {
    "malformed": Explanation(
        "The request does not match the schema of this address: the body is not canonical JSON, a key is missing or "
        "unknown, or a query parameter is not valid. Nothing was stored.",
        SENDER,
        "Compare the request with its schema in /openapi.json. `detail` says what was expected.",
    ),
    "token_invalid": Explanation(
        "The survey accepts reports only with a valid one-time token. The token is missing, was used, was revoked "
        "or never existed; the server does not say which. Nothing was stored.",
        SENDER,
        "Compare the link letter by letter. If it is complete, ask the person who sent it for a new one.",
    ),
    "unauthorized": Explanation(
        "This address is for researchers, and the request has no valid key.",
        SENDER,
        "Send the key as `Authorization: Bearer KEY`. If it has expired or was revoked, ask for a new one.",
    ),
    "forbidden": Explanation(
        "The form did not come from this site's own pages, or its session has ended.",
        SENDER,
        "Reload the page, sign in if it asks you to, and send the form from there.",
    ),
    "not_found": Explanation(
        "This address does not exist, or has none of the requested data.",
        SENDER,
        "Compare the address with /openapi.json. `detail` may say what is missing.",
    ),
    "unknown_survey": Explanation(
        "No survey with this name is published here, or it was deleted.",
        SENDER,
        "Check the name. It is in lower case, as in the survey file.",
    ),
    "method_not_allowed": Explanation(
        "The address exists, but does not accept this HTTP method.", SENDER, "Use a method from the header `Allow`."
    ),
    "timeout": Explanation(
        "The request did not arrive completely in time. Nothing was stored.",
        SENDER,
        "Send the same bytes again. A report that was already stored gets the same receipt.",
    ),
    "closed": Explanation(
        "The survey does not accept this now: it has not opened yet, it is closed, or the action is no longer "
        "possible.",
        RESEARCHER,
        "Read the survey's status. Reports that were stored before keep their receipt.",
    ),
    "still_open": Explanation(
        "Joint tables, models, weights and files of reports are available only for closed surveys and closed waves. "
        "Otherwise the difference of two results could reveal a single report.",
        RESEARCHER,
        "Wait until the survey or the wave is closed. Estimates of single questions are available before.",
    ),
    "digest_mismatch": Explanation(
        "The report belongs to a version of the survey that is not published here. Nothing was stored.",
        SENDER,
        "Open the original link. The device then compares the survey with the link before the first question.",
    ),
    "id_conflict": Explanation(
        "A different report with the same id is already stored. It was not changed.",
        SENDER,
        "Send exactly the bytes that were drawn first. A device draws once and sends what it has recorded.",
    ),
    "already_redeemed": Explanation(
        "The invitation was redeemed before with other ids: on another device, or on this one before its data was "
        "cleared. Nothing was signed now.",
        SENDER,
        "Open the link on the device that opened it first. If that device or its data is gone, ask the person who "
        "sent the link.",
    ),
    "withdrawn": Explanation(
        "The report with this id was withdrawn and cannot be sent again.",
        NO_ONE,
        "No action is needed: its sender asked for this.",
    ),
    "length_required": Explanation(
        "The request has no length of its body, or two different ones. Nothing was read.",
        SENDER,
        "Send `Content-Length`, and no `Transfer-Encoding`.",
    ),
    "too_large": Explanation(
        "The body is larger than this address accepts. Nothing was read.",
        SENDER,
        "Send less at once. Limits: 64 KiB in general, 512 KiB and 1,000 reports for a batch, 4 MiB for a survey.",
    ),
    "unsupported_type": Explanation(
        "The content type is not plain JSON, or the body is compressed. Nothing was read.",
        SENDER,
        "Send `Content-Type: application/json`, and no `Content-Encoding`.",
    ),
    "out_of_range": Explanation(
        "The report contains a value that the survey's randomizers cannot produce. Nothing was stored.",
        SENDER,
        "Update the client. If it is the newest, tell the survey's researcher; never correct a report by hand.",
    ),
    "key_reused": Explanation(
        "The same `Idempotency-Key` was used before with another body. Nothing was created.",
        SENDER,
        "Use a new key for a new request. Use the same key only to repeat the same request.",
    ),
    "revision_conflict": Explanation(
        "Another revision of the survey was published at the same moment, and was first. This one was not published.",
        RESEARCHER,
        "Look at the published revision. If yours is still needed, publish it with a higher `revision`.",
    ),
    "spec_invalid": Explanation(
        "The survey is not valid and cannot be published. `problems` lists each place and its mistake.",
        RESEARCHER,
        "Fix these places. `sottovoce lint` finds them before you publish.",
    ),
    "estimate_impossible": Explanation(
        "The result cannot be computed from these reports: the group, wave, question or method does not exist, or "
        "there are too few reports.",
        RESEARCHER,
        "Change the request as `detail` says, or wait for more reports.",
    ),
    "analysis_stopped": Explanation(
        "The analysis was stopped before it had a result: it reached the limit of time or memory, or someone cancelled "
        "it. `detail` says which.",
        RESEARCHER,
        "Use fewer predictors or categories, or compute it with the command line or Python, which have no limit. The "
        "operator sets the limits with SOTTOVOCE_ANALYSIS_SECONDS and SOTTOVOCE_ANALYSIS_MEMORY.",
    ),
    "options_invalid": Explanation(
        "Some options of the analysis are missing, unknown or of the wrong type. `problems` lists each.",
        RESEARCHER,
        "Fix these options. /openapi.json has the schema of each analysis.",
    ),
    "too_many": Explanation(
        "This network has sent more requests within a minute than it may. Nothing was stored.",
        SENDER,
        "Wait as long as `Retry-After` says, then send the same bytes again. If a whole institution uses one "
        "address, the operator of the aggregator can raise SOTTOVOCE_RATE_LIMIT.",
    ),
    "internal": Explanation(
        "An error in this program. Its log has the place in the program, but not the data of the request.",
        OPERATOR,
        "Search the log for `bug:`, and report that line. A report can be sent again: it is never counted twice.",
    ),
    "busy": Explanation(
        "The aggregator has too many requests at once, or is about to stop. Nothing was stored.",
        SENDER,
        "Send the same bytes again after the seconds in `Retry-After`.",
    ),
    "storage": Explanation(
        "The database is not available. Reports with a receipt are safe; this request was not carried out.",
        OPERATOR,
        "Run `sottovoce db doctor` or read /readyz to see the cause. Senders try again after `Retry-After`.",
    ),
}
"""Explanations by code of ``problems.STATUS``; a test checks that both have the same codes."""
