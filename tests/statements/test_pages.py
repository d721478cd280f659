"""What privacy account, codebook, cards and public results say is licensed by the survey, and complete."""

import contextlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from inspect import isfunction
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from flask import Flask, g, render_template
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.analysis.published_counts import is_direct
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.export import codebook
from sottovoce.aggregator.export.channels import channels_of
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.i18n import translator
from sottovoce.aggregator.i18n.translator import LANGUAGES
from sottovoce.aggregator.invitations import posters
from sottovoce.aggregator.planning.simulated_survey import invent, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.aggregator.privacy_account import document, page, text
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.results import shared_results_page
from sottovoce.client import words as form_words
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

from tests.conftest import FakeClock
from tests.documents import Document
from tests.statements.pages_table import ACCOUNT, CARD, CHART, CODEBOOK, IN_CODEBOOK, PUBLIC_PAGE, STUDY, Shown
from tests.statements.table import Facts
from tests.statements.test_statements import EACH_TIME, SLOW, decorated, marked

LINK = "https://survey.example/s/x"
MODULUS = 2**2047 + 1
PEOPLE = 40

_PRINTED = re.compile(r"⟦([\w-]+)@(\w+)")
_ODDS = re.compile(r"(results_)?(date_)?odds_")
_LABELS = re.compile(r"⟦[\w-]+@(answer_yes|answer_no|joint_absent)⟧")
"""Answers, in the language of the survey."""
_STORED_PUBLIC = re.compile(r"privacy_stored_public names=([^⟧]*)")


def invited(seed: int) -> Survey:
    """Return a random survey with more of what cards, kiosks and accounts depend on, where it goes with the others."""
    draw = Random(f"pages {seed}")  # noqa: S311 - the same surveys in each run
    survey = decorated(seed)
    label, privacy = survey.title, survey.document["privacy"]
    yes_no = {"type": "boolean", "label": label}
    tossed = [{**yes_no, "name": "a", "mechanism": {"name": "coin_flip"}}, {**yes_no, "name": "b", "public": True}]
    own = {"share": "1/4", "source": label, "label": label}
    fact = {**yes_no, "name": "fact", "procedure": "crosswise", "innocuous": own}
    toss = {"privacy": {**privacy, "procedure": "own_coin"}}
    moduli = [spell_modulus(MODULUS + 2 * wave) for wave in range(len(survey.waves))]
    alone = {key: survey.document[key] for key in ("format", "name", "revision", "title", "default_language")}
    changes: list[tuple[float, Document]] = [
        (0.15, {**alone, **toss, "questions": tossed[: draw.randint(1, 2)]}),
        (0.05, {**alone, **toss, "questions": tossed[1:]}),
        (0.1, {**alone, "questions": [fact]}),
        (0.3, {"access": {"blind": moduli}}),
        (0.3, {"privacy": {**privacy, "send_within_hours": 5}}),
        (0.1, {"privacy": {**privacy, "send_at_seconds": 900}}),
        (0.5, {"kiosk": True}),
        (0.3, {"retention": {"ids_days": 0}}),
    ]
    for chance, change in changes:
        if draw.random() < chance:
            with contextlib.suppress(SpecError):
                survey = parse_survey({**({} if "questions" in change else survey.document), **change})
    return survey


@cache
def keys_in(language: str) -> Mapping[str, str]:
    """Return the catalogues of studio and form in a language alone: each sentence is its language and its key."""
    both = {**form_words.catalogue(language), **translator._read(language)}
    own = {key: sentence.replace("⟦", f"⟦{language}@") for key, sentence in marked(both).items()}
    return own | {"language": language}


@pytest.fixture(autouse=True)
def keys_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every catalogue say the keys of its sentences."""
    monkeypatch.setattr(translator, "catalogue", keys_in)


def wrong_in(printed: str, table: Mapping[str, Callable[[Any], bool | None]], known: Any, language: str) -> list[str]:
    """Return the false, missing, unknown and untranslated statements of a page."""
    # The narrow drawing says the same as the other one, and cuts keys, which are longer than words.
    printed = re.sub(r'<svg class="flow narrow".*?</svg>', "", printed, flags=re.DOTALL)
    said = {(_ODDS.sub("odds ", key).partition(" ")[0], spoken) for spoken, key in _PRINTED.findall(printed)}
    keys = {key for key, _ in said}
    true = {key: is_true(known) for key, is_true in table.items()}
    return [
        *(f"in another language: {key}" for key, spoken in sorted(said) if spoken != language),
        *(f"not in the table: {key}" for key in sorted(keys - set(table))),
        *(f"false: {key}" for key in sorted(keys) if true.get(key) is False),
        *(f"missing: {key}" for key in sorted(true) if true[key] and key not in keys),
    ]


def account_wrong(survey: Survey, language: str) -> list[str]:
    """Return what is wrong in a privacy account, on its page and in a terminal."""
    facts, words = Facts.of(survey), translator.Words(language)
    account = document.account(survey, document.AccountTerms(), keys_in(language), words)
    printed = page.page(account, survey, words)
    in_terminal = {key: is_true for key, is_true in ACCOUNT.items() if key not in CHART or key == "privacy_block"}
    named = [
        name for names in _STORED_PUBLIC.findall(" ".join(account["stored"])) for name in re.findall(r"'(\w+)'", names)
    ]
    given = [asked.name for asked in facts.questions if not asked.is_private]
    return [
        *wrong_in(printed, {**ACCOUNT, **STUDY}, facts, language),
        *wrong_in(" ".join(text.lines(account, words)), in_terminal, facts, language),
        *([] if named == given else [f"sent as given: {named}, not {given}"]),
    ]


def card_wrong(survey: Survey, language: str) -> list[str]:
    content = posters.PosterContent(survey, 0, translator.Words(language))
    return wrong_in(posters.cards(content, [LINK]), CARD, Facts.of(survey), language)


def counts_of(survey: Survey) -> RevisionCounts:
    """Return what a few people sent."""
    draws = BatchDraws(seeded(survey.name))
    return reports_of(survey, next(iter(invent(survey, PEOPLE, len(survey.canonical)))), draws).revision


class Sentences(HTMLParser):
    """The texts of a page without cells of tables, names, pictures and what the survey itself says."""

    APART = frozenset({"own", "td", "th", "code", "style", "svg", "li"})
    EMPTY = frozenset({"meta", "img", "br"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Note where the text that follows stands."""
        if tag not in self.EMPTY:
            self.tags.append("own" if ("dir", "auto") in attrs else tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Pass over what has no text."""

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's interface
        self.tags.pop()

    def handle_data(self, data: str) -> None:
        if not self.APART & set(self.tags):
            self.texts.append(data)


def codebook_wrong(survey: Survey) -> list[str]:
    facts, counts = Facts.of(survey), counts_of(survey)
    channels = channels_of([counts], [question.name for question in survey.questions])
    written = codebook.codebook_page(channels, About.of(survey), analyse([counts]))
    printed = _LABELS.sub("", written.replace("<wbr>", ""))
    left, wrong = "\n".join(Sentences(printed).texts), wrong_in(printed, IN_CODEBOOK, facts, "en")
    for pattern, times in CODEBOOK.items():
        left, count = re.subn(pattern, "", left)
        wrong += [] if times(facts) in {None, count} else [f"{count} times, not {times(facts)}: {pattern}"]
    unknown = [line for line in left.splitlines() if line.strip(" .") and "⟦" not in line]
    return wrong + [f"not in the table: {line}" for line in unknown]


def public_wrong(survey: Survey, language: str, app: Flask, is_closed: bool) -> list[str]:
    """Return what is wrong on the public page of results, beside what every page of the studio says."""
    counts = counts_of(survey)
    shown = replace(counts, stored=replace(counts.stored, closed=is_closed))
    asked = [each.name for each in survey.questions if is_closed and is_direct(survey, each) and each.options]
    with app.test_request_context():
        g.words = translator.Words(language)
        frame = set(_PRINTED.findall(render_template("shared.html", results=None)))
        live = shared_results_page._render([shown], frozenset(asked)).live
    printed = " ".join(f"⟦{spoken}@{key}" for spoken, key in _PRINTED.findall(live) if (spoken, key) not in frame)
    return wrong_in(printed, PUBLIC_PAGE, Shown(Facts.of(survey), is_closed, bool(asked)), language)


Wrong = Callable[[Survey, str, bool], list[str]]


@pytest.fixture(params=["account", "card", "codebook", "public"])
def wrong(request: pytest.FixtureRequest, storage: SQLiteStorage, clock: FakeClock) -> Wrong:
    """What looks for faults on one kind of page, of a survey, in a language, which is closed or not."""
    return looking(request.param, create_app(Settings(), storage, clock, {}))


def looking(kind: str, app: Flask) -> Wrong:
    pages: dict[str, Wrong] = {
        "account": lambda survey, language, _: account_wrong(survey, language),
        "card": lambda survey, language, _: card_wrong(survey, language),
        "codebook": lambda survey, _, __: codebook_wrong(survey),
        "public": lambda survey, language, is_closed: public_wrong(survey, language, app, is_closed),
    }
    return pages[kind]


@cache
def surveys(number: int) -> Sequence[Survey]:
    """Return so many random surveys, made when a test first asks."""
    return [invited(seed) for seed in range(number)]


def all_wrong(wrong: Wrong, number: int) -> dict[int, list[str]]:
    """Return what is wrong by seed: each survey in one of the nine languages, two of three closed."""
    languages = [LANGUAGES[seed % len(LANGUAGES)] for seed in range(number)]
    found = {seed: wrong(survey, languages[seed], seed % 3 > 0) for seed, survey in enumerate(surveys(number))}
    return {seed: faults for seed, faults in found.items() if faults}


@pytest.mark.parametrize("number", [EACH_TIME, pytest.param(SLOW, marks=pytest.mark.slow)])
def test_pages_state_what_is_true(wrong: Wrong, number: int) -> None:
    """No random survey has a false, missing, unknown or untranslated statement."""
    assert all_wrong(wrong, number) == {}


FAULTS: list[tuple[str, ModuleType, str, str]] = [
    # Where people hide their answers by a fact, or not at all, the device has drawn nothing.
    ("account", document, "if drawn_by_device(survey)", "if not survey.own_coin"),
    # The arm is named among the answers.
    ("account", document, "in _answered(survey) if question", "in survey.questions if question"),
    ("account", document, 'blind": survey.is_blind', 'blind": not survey.is_blind'),
    # Who has no protection is told that it weakens.
    ("account", document, '"kiosk" in survey.document and survey.private', '"kiosk" in survey.document'),
    ("account", page, '"privacy_basis" if', '"privacy_basis" if not'),
    ("card", posters, "from_string(source", "from_string(source.replace('survey.is_b', 'not survey.is_b')"),
    ("codebook", codebook, "if results.epsilon else []", "if not results.epsilon else []"),
    # A belief stays the same, so that nothing seems to be told, where all is sent as given.
    ("public", shared_results_page, " if view.survey.private else None", ""),
    ("public", shared_results_page, '"shared_about_direct" if asked', '"shared_about_direct" if not asked'),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{place}" for place in range(len(FAULTS))])
def test_false_or_missing_statement_is_found(
    storage: SQLiteStorage, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    """One condition turned at a time: each is found within 20 surveys."""
    kind, module, right, instead = fault
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert source.count(right) == 1
    turned = ModuleType(module.__name__)
    monkeypatch.setitem(sys.modules, module.__name__, turned)
    exec(source.replace(right, instead), vars(turned))  # noqa: S102 - the product's own source
    for name in [name for name, value in vars(turned).items() if isfunction(value)]:
        monkeypatch.setattr(module, name, getattr(turned, name))

    assert all_wrong(looking(kind, create_app(Settings(), storage, clock, {})), EACH_TIME) != {}
