"""Parse a survey document into a ``Survey``; every mistake is found in one pass, with its JSON pointer."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from sottovoce.shared import canonical
from sottovoce.shared.arms.arms import blocks_of
from sottovoce.shared.by_hand.own_coin import procedure
from sottovoce.shared.checks import LANGUAGE, LANGUAGE_FAULT, MISSING
from sottovoce.shared.completion import LINK, read_after
from sottovoce.shared.errors import Sentence, SpecError, error_message
from sottovoce.shared.order.orders import read_orders
from sottovoce.shared.parse_item import ItemReader, arm_question, dump_items, read_arms, read_plan
from sottovoce.shared.questions import check_innocuous
from sottovoce.shared.redemption import read_modulus
from sottovoce.shared.spec import FORMAT, Item, Survey, Wave
from sottovoce.shared.survey_keys import REQUIRED, RESEARCHER_TEXTS, SURVEY, SURVEY_MARKS, SURVEY_TEXTS

_SURVEY_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_EPSILON = re.compile(r"(0|[1-9][0-9]?)(\.[0-9]{1,6})?")

PROCEDURES = ("device", "own_coin")
REPORT_LABELS = ("plain", "neutral")
ACCESS = ("open", "token", "blind")
MAX_HOURS = 168
"""The longest time that a device may wait before it sends: a week."""
SECONDS_TO_SEND_AT = (10, 3600)
"""Shortest and longest time between two moments at which a report may be sent."""

_WAITS = {"send_within_hours": (1, MAX_HOURS), "send_at_seconds": SECONDS_TO_SEND_AT}
_PRIVACY = {"max_epsilon_total", "procedure", "release_batch", *_WAITS}
_NOT_KIOSK = (
    "cannot be combined with {what}: on a device that is handed round, everything of a person is erased after a minute"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MAIL = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,8}")
# A browser goes nowhere by an address with an impossible port.
_EXIT = re.compile(rf"(?!https://[^/]*:){LINK.pattern}")
_CONTACT = re.compile(rf"(?=.{{1,200}}$)({_MAIL.pattern}|{LINK.pattern})")
_WINDOW = {"opens", "closes"}
MAX_WAVES = 1000
_NEEDED = ("/questions", "/ask", "/waves", "/access", "/arms")
"""Pointers where there must be no mistake before it can be said what a report costs."""


def parse_survey(document: object) -> Survey:
    """Parse the survey that a document (already read from YAML or JSON) describes.

    Shorthand is expanded and defaults are written out, so that two files that mean the same have one digest. Raises
    SpecError with every mistake found, each with its JSON pointer; no submitted value is repeated.
    """
    reader = _SurveyReader()
    survey = reader.survey(document)
    if survey is None or reader.problems:
        raise SpecError(reader.problems)
    return survey


def load_survey(body: bytes) -> Survey:
    """Read a served survey; raise SpecError if it is none, not canonical, or blind without the keys of publishing."""
    survey = read_canonical(body)
    if survey.is_blind and not survey.moduli:
        raise SpecError("the survey is not published: its access names no modulus")
    return survey


def read_canonical(body: bytes) -> Survey:
    """Read a survey, published or, as in a rehearsal, not yet; raise SpecError if it is none, or not canonical."""
    try:
        survey = parse_survey(canonical.load(body))
    except ValueError as error:
        raise SpecError(f"the survey {error}") from None
    if survey.canonical != body:
        raise SpecError("the survey is not in canonical form")
    return survey


class _SurveyReader(ItemReader):
    """A parser of the survey and its parts."""

    def survey(self, document: object) -> Survey | None:
        try:
            canonical.check_tree(document)
        except ValueError as error:
            self.problem("", error_message(error))
            return None
        fields = self.fields(document, "", REQUIRED, set(SURVEY))
        default = fields.get("default_language", MISSING)
        self.default_language = self.match(default, "/default_language", LANGUAGE, LANGUAGE_FAULT)
        waves = self.waves(fields)
        self.check_together(fields)
        labels = self.one_of(fields.get("report_labels", "plain"), "/report_labels", REPORT_LABELS)
        self.neutral = labels == "neutral"
        items = self.shown(fields.get("questions", []))
        arms, items = read_arms(self, fields, items)
        self.ask(fields, items, [arm.name for arm in arms])
        after = {"after": read_after(self, fields["after"], items, arms)} if "after" in fields else {}
        written = {**self.head(fields), **after, "questions": dump_items(items)}
        written |= {"arms": [arm.dump() for arm in arms]} if arms else {}
        written |= read_plan(self, fields["analysis_plan"], arms, items) if "analysis_plan" in fields else {}
        written |= {key: fields[key] for key in ("ask", "waves") if key in fields}
        read_orders(self, fields, items, self.pointers, written)
        written |= {"report_labels": labels} if self.neutral else {}
        if has_own_coin := written["privacy"]["procedure"] == "own_coin":
            self.own_coin(items)
        if any(question.by_fact for item in items for question in item.questions):
            check_innocuous(self, items, self.pointers, len(waves), has_own_coin)
        kept = written["retention"]
        delete_on = self.delete_on(kept["delete_on"], waves) if "delete_on" in kept else None
        is_known = not any(problem.pointer.startswith(_NEEDED) for problem in self.problems)
        self.memo(fields, items, len(waves))
        if not is_known:
            return None
        access, privacy = written["access"], written["privacy"]
        drawn = [arm_question(arms, written["default_language"])] if arms else []
        survey = Survey(
            document=written,
            name=written["name"],
            revision=written["revision"],
            default_language=written["default_language"],
            title=written.get("title", {}),
            opens=waves[0].opens,
            closes=waves[-1].closes,
            release_batch=privacy["release_batch"],
            ids_days=kept["ids_days"],
            delete_on=delete_on,
            questions=(*(question for item in items for question in item.questions), *drawn),
            items=tuple(items),
            waves=tuple(waves),
            ask=written.get("ask"),
            arms=tuple(arms),
            moduli=tuple(map(read_modulus, access["blind"])) if isinstance(access, dict) else (),
            send_within_hours=privacy.get("send_within_hours", 0),
            send_at_seconds=privacy.get("send_at_seconds", 0),
        )
        # A limit that could not be read is empty, and a mistake already noted.
        if Decimal(survey.epsilon) > Decimal(written["privacy"].get("max_epsilon_total") or "Infinity"):
            self.problem("/privacy/max_epsilon_total", "is less than the questions spend together")
        return survey

    def head(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Parse everything but the questions, with its defaults written out."""
        head = {
            "format": self.one_of(fields.get("format", FORMAT), "/format", (FORMAT,)),
            "name": self.match(fields.get("name", MISSING), "/name", _SURVEY_NAME),
            "revision": self.integer(fields.get("revision", 1), "/revision", 1, 10**6),
            "default_language": self.default_language,
            **{key: self.text_map(fields[key], f"/{key}") for key in SURVEY_TEXTS if key in fields},
            **{key: fields[key] for key in ("opens", "closes") if key in fields},
            **{key: self.mark(fields[key], f"/{key}") for key in SURVEY_MARKS if key in fields},
            **{key: read(self, fields) for key, read in _READERS.items() if key in fields},
            "access": self.access(fields),
            "privacy": self.privacy(fields.get("privacy", {})),
        }
        # Days that report ids are kept after closing, and the date of automatic deletion.
        kept = self.fields(fields.get("retention", {}), "/retention", set(), {"ids_days", "delete_on"})
        ids_days = self.integer(kept.get("ids_days", 30), "/retention/ids_days", 0, 3650)
        head["retention"] = {"ids_days": ids_days, **{key: kept[key] for key in ("delete_on",) if key in kept}}
        # True is the default and is not written out, so that surveys without it keep their digest.
        if not isinstance(checked := fields.get("check", True), bool):
            self.problem("/check", "must be true or false")
        return head | ({"check": False} if checked is False else {})

    def access(self, fields: Mapping[str, Any]) -> object:
        """Parse ``access``; publishing replaces ``blind`` by the moduli, one for each wave."""
        value = fields.get("access", "open")
        if not isinstance(value, dict):
            return self.one_of(value, "/access", ACCESS)
        waves = fields.get("waves", [{}])
        count = len(waves) if isinstance(waves, list) else 1
        listed = self.fields(value, "/access", {"blind"}, set()).get("blind", [])
        moduli = self.items(listed, "/access/blind", count, count)
        for index, each in enumerate(moduli):
            with self.noting(f"/access/blind/{index}"):
                read_modulus(each)
            if each in moduli[:index]:
                self.problem(f"/access/blind/{index}", "is another wave's too: each wave has its own")
        return value

    def delete_on(self, value: object, waves: Sequence[Wave]) -> date | None:
        """Return the day on which everything is deleted, later than the last moment at which the survey is open."""
        pointer = "/retention/delete_on"
        day = self.day(value, pointer)
        closes = waves[-1].closes if waves else None
        if day and closes and datetime.combine(day, time(), UTC) <= closes:
            self.problem(pointer, "must be a day that begins after the survey has closed")
        return day

    def researcher(self, survey: Mapping[str, Any]) -> dict[str, Any]:
        """Parse ``researcher``, which is shown first, so that respondents know whom they answer."""
        pointer = "/researcher"
        fields = self.fields(survey["researcher"], pointer, {"name"}, {*RESEARCHER_TEXTS, "contact"})
        result: dict[str, Any] = {
            key: self.text_map(fields[key], f"{pointer}/{key}") for key in RESEARCHER_TEXTS if key in fields
        }
        if "contact" in fields:
            message = "must be an e-mail address, or an address that begins with https, of at most 200 characters"
            result["contact"] = self.match(fields["contact"], f"{pointer}/contact", _CONTACT, message)
        return result

    def exit_to(self, fields: Mapping[str, Any]) -> bool | str:
        """Parse ``quick_exit``: true, or where people leave to."""
        message, value = "must be true, or an address that begins with https, without a port", fields["quick_exit"]
        return True if value is True else self.match(value, "/quick_exit", _EXIT, message)

    def check_together(self, fields: Mapping[str, Any]) -> None:
        """Refuse ``fresh_samples`` without waves, and on a device that is handed round what would stay of a person."""
        if "fresh_samples" in fields and "waves" not in fields:
            self.problem("/fresh_samples", "goes with waves only: it says that each of them asks other people")
        if "kiosk" not in fields:
            return
        privacy = fields.get("privacy")
        waits = [key for key in _WAITS if isinstance(privacy, dict) and key in privacy]
        blind = ["access: blind"] if fields.get("access") == "blind" or isinstance(fields.get("access"), dict) else []
        for what in [*(["waves"] if "waves" in fields else []), *blind, *waits]:
            self.problem("/kiosk", Sentence(_NOT_KIOSK, what=what))

    def replaces(self, fields: Mapping[str, Any]) -> str:
        """Parse the digest of the revision before; publishing fills it in."""
        if fields.get("revision", 1) == 1:
            self.problem("/replaces", "does not go with revision 1: it has none before it")
        message = "must be the 64 hexadecimal digits of the revision before; publishing fills them in"
        return self.match(fields["replaces"], "/replaces", _DIGEST, message)

    def waves(self, fields: Mapping[str, Any]) -> list[Wave]:
        """Parse the waves, one after the other; the survey's own window if it names none."""
        if "waves" not in fields:
            return [self.window(fields, "")]
        for key in _WINDOW & set(fields):
            self.problem(f"/{key}", "must be set for each wave, not for the survey")
        waves: list[Wave] = []
        for index, item in enumerate(self.items(fields["waves"], "/waves", 1, MAX_WAVES)):
            pointer = f"/waves/{index}"
            wave = self.window(self.fields(item, pointer, _WINDOW, set()), pointer)
            if wave.opens and waves and waves[-1].closes and wave.opens < waves[-1].closes:
                self.problem(f"{pointer}/opens", "must not be earlier than the end of the wave before")
            waves.append(wave)
        return waves

    def window(self, fields: Mapping[str, Any], pointer: str) -> Wave:
        wave = Wave(*(self.moment(fields.get(key), f"{pointer}/{key}") for key in ("opens", "closes")))
        if wave.opens and wave.closes and wave.opens >= wave.closes:
            self.problem(f"{pointer}/closes", "must be later than opens")
        return wave

    def ask(self, fields: Mapping[str, Any], items: Sequence[Item], arms: Sequence[str]) -> None:
        """Check ``ask``, the number of private questions per respondent, of the survey and of its blocks."""
        blocks = blocks_of([question.mechanism for item in items for question in item.questions])
        drawn = {block.name for block in blocks if block.mechanism.ask}
        if "ask" not in fields and not drawn:
            return
        private = {q.name: item.block or q.name for item in items for q in item.questions if q.mechanism is not None}
        in_arms = [
            {private[q.name] for item in items if item.is_in(arm) for q in item.questions if q.name in private}
            for arm in arms or [""]
        ]
        ask, units = fields.get("ask", 1), max(map(len, in_arms))
        if "ask" in fields and (type(ask) is not int or not 1 <= ask < units):
            message = (
                "must be a whole number from 1, less than the questions with a mechanism: there are {private} of "
                "them, and without this key all are asked"
            )
            self.problem("/ask", Sentence(message, private=units))
        if "ask" in fields and drawn:
            self.problem("/ask", "cannot be combined with the ask of a block")
        privacy = fields.get("privacy")
        if isinstance(privacy, dict) and privacy.get("procedure") == "own_coin":
            self.problem("/ask", "cannot be combined with own_coin: the device must draw nothing")
        for pointer, item in zip(self.pointers, items, strict=True):
            hangs_on = {private[name] for name in private if name in {each.question for each in item.conditions}}
            # A block is asked as a whole, but for an ask of its own.
            if (hangs_on if "ask" in fields else hangs_on & drawn) - ({item.block} - drawn):
                self.problem(
                    f"{pointer}/{'visible_if' if item.visible_if else 'any_of'}",
                    ("depends on a question that ask may leave out; with ask, it may depend only on public questions"),
                )

    def memo(self, fields: Mapping[str, Any], items: Sequence[Item], waves: int) -> None:
        """Check that a memo lies under no token, goes with no drawn set or own coin, and covers the waves it says."""
        for place, item in zip(self.pointers, items, strict=True):
            pointer = f"{place}{'/of' if item.rows else ''}/mechanism"
            mechanism = item.questions[0].mechanism if item.questions else None
            if mechanism is None or mechanism.waves == 1:
                continue
            if "kiosk" in fields:
                self.problem("/kiosk", Sentence(_NOT_KIOSK, what="memoized_rr"))
            if "fresh_samples" in fields:
                self.problem(
                    pointer, ("cannot be combined with fresh_samples: devices remember answers of the same people")
                )
            if mechanism.waves < waves:
                self.problem(f"{pointer}/waves", "is less than the survey's number of waves")
            if fields.get("access") == "token":
                self.problem(
                    pointer, ("cannot be combined with access: token: to the device each token is another person")
                )
            if "ask" in fields:
                self.problem(
                    pointer, ("cannot be combined with ask: a remembered question must be asked in every wave")
                )

    def privacy(self, value: object) -> dict[str, Any]:
        pointer = "/privacy"
        fields = self.fields(value, pointer, set(), _PRIVACY)
        result = {
            "procedure": self.one_of(fields.get("procedure", "device"), f"{pointer}/procedure", PROCEDURES),
            "release_batch": self.integer(fields.get("release_batch", 25), f"{pointer}/release_batch", 1, 10**6),
        }
        if "max_epsilon_total" in fields:
            message = 'must be a decimal written as a string, such as "4.5"'
            place = f"{pointer}/max_epsilon_total"
            result["max_epsilon_total"] = self.match(fields["max_epsilon_total"], place, _EPSILON, message)
        for key, (least, most) in _WAITS.items():
            if key in fields:
                result[key] = self.integer(fields[key], f"{pointer}/{key}", least, most)
        if fields.keys() >= _WAITS.keys():
            self.problem(f"{pointer}/send_at_seconds", "cannot be combined with send_within_hours, which hides more")
        return result

    def own_coin(self, items: Sequence[Item]) -> None:
        """Refuse what people could not do by themselves with a coin or a die."""
        for at, item in zip(self.pointers, items, strict=True):
            if item.conditions:
                place = f"{at}/{'visible_if' if item.visible_if else 'any_of'}"
                self.problem(place, "cannot be combined with own_coin: the device must add nothing")
            for question in item.questions[:1]:
                pointer = at + ("/of" if item.rows else "")
                if question.absent is not None:
                    self.problem(pointer, "own_coin has no absent answer: the device must add nothing")
                if question.mechanism is not None and procedure(question.mechanism) is None:
                    message = "own_coin needs a yes/no channel of quarters or eighths (coin), thirds or sixths (die)"
                    self.problem(f"{pointer}/mechanism", message)


_READERS: Mapping[str, Callable[[_SurveyReader, Mapping[str, Any]], object]] = {
    "researcher": _SurveyReader.researcher,
    "quick_exit": _SurveyReader.exit_to,
    "replaces": _SurveyReader.replaces,
}
"""Readers of the keys that are written as they are read."""
