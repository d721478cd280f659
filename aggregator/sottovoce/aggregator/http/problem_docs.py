"""Explanations of the codes in problem documents, also published as ``docs/problems.md``."""

from typing import NamedTuple


class Explanation(NamedTuple):
    """
    Explanation of one code.

    Attributes:
        happened: what happened.
        turn: who can fix it.
        remedy: how to fix it.
    """

    happened: str
    turn: str
    remedy: str


SENDER = "Whoever sent the request"
RESEARCHER = "The researcher"
OPERATOR = "Whoever runs the aggregator"
NOBODY = "Nobody"

EXPLANATIONS = {
    "malformed": Explanation(
        "The request is not written as this address expects it: the body is no canonical JSON, a key is missing or "
        "unknown, or a parameter of the address is none. Nothing was stored.",
        SENDER,
        "Compare the request with the schema that /openapi.json names for it; `detail` says what was expected.",
    ),
    "token_invalid": Explanation(
        "The survey takes reports with a good one-time token only. This one was spent, taken back or never given, or "
        "none came; which of these is told to nobody. Nothing was stored.",
        SENDER,
        "Check the link letter by letter. If it is complete, ask whoever sent it for a new one.",
    ),
    "unauthorized": Explanation(
        "This address is for researchers, and no good key came with the request.",
        SENDER,
        "Send the key as `Authorization: Bearer KEY`. If it has expired or was taken back, ask for a new one.",
    ),
    "forbidden": Explanation(
        "A form was sent that did not come from this site's own pages, or whose session has ended.",
        SENDER,
        "Open the page anew, sign in if it asks, and send the form from there.",
    ),
    "not_found": Explanation(
        "There is nothing under this address, or nothing of what was asked for in it.",
        SENDER,
        "Compare the address with /openapi.json; `detail` may say what is missing.",
    ),
    "unknown_survey": Explanation(
        "No survey of this name was published here, or it was deleted.",
        SENDER,
        "Check the name; it is written in small letters, as in the survey's file.",
    ),
    "method_not_allowed": Explanation(
        "The address exists, and does not take this method of HTTP.",
        SENDER,
        "Use one of those that the header `Allow` names.",
    ),
    "timeout": Explanation(
        "The request was announced, and did not arrive whole in time. Nothing was stored.",
        SENDER,
        "Send the same bytes again: a report that is known already gets the same receipt.",
    ),
    "closed": Explanation(
        "The survey takes nothing now: it has not begun, it is over, or what is asked for cannot be done any more.",
        RESEARCHER,
        "Ask for the survey's status. A report that was admitted before goes on having its receipt.",
    ),
    "still_open": Explanation(
        "Joint tables, models, weights and files of reports exist for closed surveys and closed waves only: two looks "
        "at what still grows could be subtracted from each other.",
        RESEARCHER,
        "Wait until the survey or the wave is closed; estimates of single questions are there meanwhile.",
    ),
    "digest_mismatch": Explanation(
        "The report was made for another version of the survey than any that is published here. Nothing was stored.",
        SENDER,
        "Open the link that was given out; the device compares the survey with the link before the first question.",
    ),
    "id_conflict": Explanation(
        "A different report with the same id is stored already; it stays as it is.",
        SENDER,
        "Send the very bytes that were drawn first: a device draws once, and sends what it has recorded.",
    ),
    "already_redeemed": Explanation(
        "The invitation was used before, and other numbers were signed for it then: on another device, or on this one "
        "before what it kept was erased. Nothing was signed now.",
        SENDER,
        "Open the link where it was opened first. If that device or what it kept is gone, ask whoever sent the link.",
    ),
    "withdrawn": Explanation(
        "The report of this id was taken back, and is not taken in again.",
        NOBODY,
        "Nothing is to be done: this is what its sender asked for.",
    ),
    "length_required": Explanation(
        "The request does not say how long its body is, or says it in two ways. Nothing was read.",
        SENDER,
        "Send `Content-Length`, and no `Transfer-Encoding`.",
    ),
    "too_large": Explanation(
        "The body is longer than this address takes. Nothing was read.",
        SENDER,
        "Send less at once: 64 KiB are taken, 512 KiB and at most 1,000 reports in a batch, 4 MiB of a survey.",
    ),
    "unsupported_type": Explanation(
        "The body is not announced as plain JSON, or it is compressed. Nothing was read.",
        SENDER,
        "Send `Content-Type: application/json`, and no `Content-Encoding`.",
    ),
    "out_of_range": Explanation(
        "The report holds a value that the survey's randomizers cannot have given. Nothing was stored.",
        SENDER,
        "Update the client; if it is the newest, tell the survey's researcher: a report is never mended by hand.",
    ),
    "key_reused": Explanation(
        "The same `Idempotency-Key` came before, with another body. Nothing was made.",
        SENDER,
        "Take a new key for a new request, and the same one only to repeat the very same request.",
    ),
    "spec_invalid": Explanation(
        "The survey cannot be published as it is; `problems` has each place and what is wrong there.",
        RESEARCHER,
        "Mend these places; `sottovoce lint` finds them before anything is sent.",
    ),
    "estimate_impossible": Explanation(
        "What is asked for does not follow from these reports: there is no such group, wave, question or method, or "
        "there are too few reports.",
        RESEARCHER,
        "Ask as `detail` says, or wait for more reports.",
    ),
    "options_invalid": Explanation(
        "An analysis was asked for with options that are missing, unknown or of the wrong kind; `problems` names each.",
        RESEARCHER,
        "Mend these options; /openapi.json has the schema of each analysis.",
    ),
    "too_many": Explanation(
        "More requests have come from this network within a minute than one network may send. Nothing was stored.",
        SENDER,
        "Wait as long as `Retry-After` says, and send the same bytes again. If a whole institution sits behind one "
        "address, whoever runs the aggregator can raise SOTTOVOCE_RATE_LIMIT.",
    ),
    "internal": Explanation(
        "Something is wrong in this program. What was sent is not in its log; the place in the program is.",
        OPERATOR,
        "Look into the log for `bug:`, and report that line. A report may be sent again: it is never counted twice.",
    ),
    "busy": Explanation(
        "More is under way than the aggregator takes on at once, or it is about to end. Nothing was stored.",
        SENDER,
        "Send the same bytes again after as many seconds as `Retry-After` says.",
    ),
    "storage": Explanation(
        "The database cannot be used now. Whatever has a receipt is safe; this request was not carried out.",
        OPERATOR,
        "`sottovoce doctor` and /readyz say what is wrong. Senders try again as `Retry-After` says.",
    ),
}
"""Explanations by code of ``problems.STATUS``; a test checks that both have the same codes."""
