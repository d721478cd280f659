"""The privacy account as one page: style inside, no script, nothing loaded, made to be printed."""

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from importlib.resources import files
from string import Template

from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.aggregator.privacy_account.text import TRIAL, caveat, conditions, percent, totals
from sottovoce.shared.rational import show_epsilon


def page(document: Document) -> str:
    """The page for one account."""
    facts = "".join(_fact(who, epsilon) for who, epsilon in totals(document))
    conditional = "".join(f"<p>{escape(line)}</p>" for line in conditions(document) if line)
    return Template(_read("page.html")).substitute(
        {key: escape(str(document[key])) for key in ("title", "language", "survey", "revision", "digest")},
        trial=f"<p><strong>{TRIAL}</strong></p>" if "trial" in document else "",
        style=_read("page.css"),
        facts=f'<dl class="facts">{facts}</dl>' if facts else "",
        caveat=f"<p><strong>{caveat(document)}</strong></p>" if caveat(document) else "",
        questions="".join(_question(number, row) for number, row in enumerate(document["questions"], 1)),
        together=_together(document),
        conditional=f"<section><h2>Under conditions</h2>{conditional}</section>" if conditional else "",
        stored=_list(document["stored"]),
        limits=_list(document["limits"]),
    )


def _read(name: str) -> str:
    return files("sottovoce.aggregator.privacy_account").joinpath(name).read_text(encoding="utf-8")


def _fact(who: str, epsilon: float) -> str:
    return f"<div><dt>{escape(who)}</dt><dd><small>epsilon</small> {show_epsilon(epsilon)}</dd></div>"


def _question(number: int, row: Document) -> str:
    odds = escape(row["odds"])
    label = f'<h3 dir="auto"><span class="number">{number}</span> {escape(row["label"])}</h3>'
    if row["beliefs"] is None:
        return f'<article class="public">{label}<p>{odds}</p></article>'
    if row["yes_no"] is None:
        table = _beliefs("Belief in any statement about the answer", row["beliefs"])
        return f"<article>{label}<p>{odds}</p>{table}</article>"
    columns = ("Belief that the answer is yes", "after a “yes”", "after a “no”")
    rows = [(entry["before"], entry["after_yes"], entry["after_no"]) for entry in row["yes_no"]]
    return f"<article>{label}<p>{odds}</p>{_pictures(row)}{_table(columns, rows)}</article>"


def _together(document: Document) -> str:
    beliefs = document["report"]["beliefs"]
    if beliefs is None:
        return ""
    table = _beliefs("Belief in any statement about them", beliefs)
    return f"<section><h2>All randomized answers of a report together</h2>{table}</section>"


def _beliefs(about: str, beliefs: list[Document]) -> str:
    rows = [(entry["before"], entry["at_most"], entry["at_least"]) for entry in beliefs]
    return _table((about, "after, at most", "after, at least"), rows)


def _table(columns: tuple[str, ...], rows: Sequence[tuple[float, ...]]) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in columns)
    body = "".join(
        f'<tr><th scope="row">{100 * before:.0f} % before</th>'
        + "".join(f"<td>{percent(share)}</td>" for share in after)
        + "</tr>"
        for before, *after in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _pictures(row: Document) -> str:
    """A hundred people with each true answer, those who send yes filled in."""
    shares = [("true answer yes", Fraction(row["mechanism"]["a"])), ("true answer no", Fraction(row["mechanism"]["b"]))]
    return f'<div class="people">{"".join(_hundred(caption, share) for caption, share in shares)}</div>'


def _hundred(caption: str, share: Fraction) -> str:
    filled = round(100 * share)
    about = "" if filled == 100 * share else "about "
    dots = "".join(_dot(index, index < filled) for index in range(100))
    said = f"100 people with the {caption}: {about}{filled} send yes"
    picture = f'<svg viewBox="0 0 200 50" role="img" aria-label="{said}">{dots}</svg>'
    return f"<figure>{picture}<figcaption>{said}</figcaption></figure>"


def _dot(index: int, full: bool) -> str:
    row, column = divmod(index, 20)
    return f'<circle class="{"full" if full else "off"}" cx="{10 * column + 5}" cy="{10 * row + 5}" r="3.6"/>'


def _list(sentences: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"
