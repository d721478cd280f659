"""Format the report of an audit as text, for people who were not there."""

from textwrap import fill
from typing import Any

from sottovoce.audit.check import FAILED, PASSED
from sottovoce.audit.promises import UNSEEN
from sottovoce.shared.rational import show_epsilon

WIDTH = 100

HEADINGS = {
    "statement": ("In one sentence", "What follows from all that was computed, and no more than that."),
    "integers": (
        "The numbers in the survey",
        "Epsilon, computed from the whole numbers that the survey consists of, as exact fractions.",
    ),
    "python": (
        "The program for the terminal (Python)",
        "Every way that each running randomizer can take, with its exact probability: 'A' is one report by itself, 'A "
        "in two waves' what two reports of one device say together. Then the source of chance.",
    ),
    "javascript": (
        "The form in the browser (JavaScript)",
        "The same for the scripts as they are assembled for browsers, run by node.",
    ),
    "files": ("What the aggregator serves", "The survey and each file of the form, compared with this release's."),
    "core": (
        "The core of the question (JavaScript)",
        "Every way that the module can take for an answer, with its exact probability, run by node.",
    ),
    "frame": (
        "Visits to the window",
        "Invented people answer in a browser with given random bytes. The page that asks must receive what "
        "these make of the answer; everything else that it receives or that is requested is compared between answers.",
    ),
}

VERDICTS = {
    PASSED: "PASSED: nothing that was tried contradicts what the survey claims.",
    FAILED: "FAILED: the software, or the survey, does not keep what is claimed.",
    "incomplete": "INCOMPLETE: something was not tried. This is not a pass.",
}

LIMITS = (
    f"What an audit does not show: {UNSEEN} Nor can it show that the aggregator serves the same files to other people "
    "or at another time, that the device is free of spyware, or that reports are stored as promised."
)


def lines(document: dict[str, Any]) -> list[str]:
    """Format the report as text: a line for each check, and the verdict first and last."""
    text = [
        f"Audit of {document['title']} ({document['survey']}, revision {document['revision']})",
        f"digest {document['digest']}",
        f"claimed: a whole report costs epsilon {show_epsilon(document['epsilon'])} at most",
        "",
        VERDICTS[document["verdict"]],
        *(_promises(document["promises"]) if document["promises"] else []),
    ]
    part = scope = ""
    for check in document["checks"]:
        if check["part"] != part:
            part, scope = check["part"], ""
            heading, about = HEADINGS[part]
            text += ["", heading, *_indented(about, 2)]
        if part == "statement":
            text += _indented(check["scope"], 2)
            continue
        text.append(_line(check))
        if part == "files" and check["outcome"] == PASSED:
            text[-1] = f"  {PASSED:<10} {check['subject']:<23} {check['scope']}"
            continue
        if check["message"]:
            text += _indented(check["message"], 13)
        if check["scope"] and check["scope"] != scope:
            scope = check["scope"]
            text += _indented(scope, 13)
    return [*text, "", fill(LIMITS, WIDTH), "", VERDICTS[document["verdict"]]]


def _promises(promises: list[dict[str, Any]]) -> list[str]:
    """Format the promises about the client and the result of each as lines of text."""
    text = ["", "What is promised, and what this audit found"]
    for each in promises:
        text += _indented(each["promise"], 2)
        for line in (each["done"], each["found"], f"Not looked at: {each['unseen'][0].lower()}{each['unseen'][1:]}"):
            text += _indented(line, 6)
    return text


def _line(check: dict[str, Any]) -> str:
    about = ""
    if check["claim"] is not None:
        found = "" if check["epsilon"] is None else f"{check['epsilon']:.4f}, "
        about = f"{found}claimed {check['claim']:.4f}"
    outcome = check["outcome"].upper() if check["outcome"] != PASSED else PASSED
    return f"  {outcome:<10} {check['subject']:<40} {about}".rstrip()


def _indented(text: str, by: int) -> list[str]:
    return fill(text, WIDTH, initial_indent=" " * by, subsequent_indent=" " * by).splitlines()
