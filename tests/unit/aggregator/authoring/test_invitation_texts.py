"""Letters and the ethics text say what the survey says, in its languages, and promise nothing else."""

import csv
import io
import re
from typing import Any

import pytest
from sottovoce.aggregator.authoring.invitation_texts import ethics, letter, mail_merge, reminder
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words, words_for
from sottovoce.aggregator.privacy_account.document import AccountTerms, account
from sottovoce.aggregator.privacy_account.text import lines
from sottovoce.client.words import catalogue
from sottovoce.shared.accounting import percent_after
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

from tests.surveys import months, survey

LINK = "https://example.org/s/exam#d=0123456789abcdef0123456789abcdef"
CHEATED = {
    "type": "boolean",
    "name": "cheated",
    "label": {"en": "Have you ever cheated?", "de": "Haben Sie je geschummelt?"},
    "mechanism": {"name": "coin_flip"},
}
YEAR = {"type": "boolean", "name": "first_year", "label": {"en": "Is this your first year?"}, "public": True}


def _survey(*questions: dict[str, Any], **more: object) -> Survey:
    title = {"en": "Exams here", "de": "Prüfungen hier"}
    researcher = {"name": {"en": "Dr A. Example"}, "contact": "ask@example.org"}
    return survey(questions=list(questions) or [CHEATED, YEAR], **{"title": title, "researcher": researcher, **more})


def test_letter_says_who_asks_the_odds_and_the_link() -> None:
    told = letter(_survey(closes="2027-05-12T00:00:00Z"), LINK, "en")

    assert "“Exams here”" in told
    assert "Dr A. Example" in told
    assert "75 send yes" in told
    assert "25 also send yes" in told
    assert "at most 25 in 100" in told
    assert f"open this link:\n{LINK}\n" in told
    assert "May 12, 2027" in told
    assert "ask@example.org" in told


def test_letter_of_own_coins_speaks_of_no_device_that_rolls() -> None:
    """Respondents toss themselves."""
    told = letter(_survey(CHEATED, privacy={"procedure": "own_coin"}), LINK, "en")

    assert "you toss a coin" in told
    assert "rolls" not in told


def test_no_word_of_randomized_answers_where_no_device_draws() -> None:
    """Of a tossed coin and of a fact of one's own, letters, ethics text and account name private answers."""
    month = {"label": {"en": "Were you born in May?"}, "share": "1/12", "source": {"en": "Calendar"}}
    born = {"type": "boolean", "name": "born", "label": {"en": "Ever?"}, "procedure": "crosswise", "innocuous": month}
    for asked in (_survey(CHEATED, access="token", privacy={"procedure": "own_coin"}), _survey(born, access="token")):
        document = account(asked, AccountTerms(), catalogue(), Words("en"))
        told = " ".join([letter(asked, LINK, "en"), ethics(asked, "en"), *lines(document, Words("en"))]).lower()
        assert "randomized answer" not in told
        assert "randomized report" not in told
        assert "all private answers" in told
        # Nobody sends yes who says only whether both statements are true.
        assert ("send yes" in told) == asked.own_coin


def test_odds_are_told_of_yes_or_no_only() -> None:
    """Of any other question the belief says enough."""
    choices = [{"name": name, "label": {"en": name}} for name in ("a", "b", "c")]
    chosen = {"type": "select_one", "name": "x", "label": {"en": "X?"}, "choices": choices}
    told = letter(_survey(chosen | {"mechanism": {"epsilon": "2"}}), LINK, "en")

    assert "send yes" not in told
    assert "at most 46 in 100" in told


def test_reminder_goes_to_everybody_and_says_why() -> None:
    """Nobody knows who has answered; those whose reports wait are brought back, at whose next visit they are sent."""
    told = reminder(_survey(), LINK, "en")

    assert "We do not know who has answered" in told
    assert LINK in told
    waits, at_once = (reminder(_survey(**{**BLIND, **more}), LINK, "en") for more in ({}, {"privacy": {}}))
    assert ["open your link once more" in each for each in (waits, at_once)] == [True, False]


def test_texts_are_in_the_language_asked_for() -> None:
    assert "„Prüfungen hier“" in letter(_survey(), LINK, "de")
    assert "HABEN SIE" not in ethics(_survey(), "de")
    assert "Haben Sie je geschummelt?" in ethics(_survey(), "de")
    assert [words_for(tag).language for tag in ("pt-BR", "zh-Hans", "zh", "nl")] == ["pt", "zh-Hans", "zh-Hans", "en"]


BLIND = {"access": "blind", "privacy": {"send_within_hours": 24}}


def test_blind_letter_says_what_is_true_of_its_link() -> None:
    """Where it is opened, what can be seen and looked up, and that the device waits; no more than that."""
    told = letter(_survey(**BLIND), LINK, "en")

    for said in ("on the device on which you want to answer", "redeemed once", "No one can look up", "within 24 hours"):
        assert said in told
    for said in ("someone at your network address answered", "which link was used", "sent at once"):
        assert said not in told
    assert "Answers are sent at once" in letter(_survey(access="blind"), LINK, "en")
    assert "24 hours" not in letter(_survey(access="blind"), LINK, "en")
    assert "every time on the same device" in letter(_survey(waves=months(2), **BLIND), LINK, "en")


def test_ethics_text_says_what_is_kept_of_links() -> None:
    """Of a blind draft no digest either, which its keys will change."""
    draft = _survey(**BLIND)
    keyed = _survey(**{**BLIND, "access": {"blind": [spell_modulus(2**2047 + 1)]}})
    told, published = (ethics(each, "en") for each in (draft, keyed))

    for text in (told, published):
        assert "whether it was redeemed, and a fingerprint of the blindly signed id" in text
        assert "For one-time tokens" not in text
    assert draft.digest not in told
    assert "The digest is known once the survey is published" in told
    assert keyed.digest in published
    assert "For one-time tokens" in ethics(_survey(access="token"), "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_fills_every_place(language: str) -> None:
    declined = CHEATED | {"absent_category": True}
    copied = CHEATED | {"name": "copied"}
    waves = months(2)
    texts = {key: {"en": key} for key in ("description", "consent", "notice")}
    kept = {"retention": {"delete_on": "2028-03-31"}}
    tokens = _survey(declined, copied, YEAR, ask=1, access="token", waves=waves, **texts, **kept)

    blind = _survey(declined, **texts, **BLIND)
    at_once = _survey(declined, waves=waves, access="blind")
    surveys = (tokens, blind, at_once)
    letters = [write(each, LINK, language) for each in surveys for write in (letter, reminder)]
    for told in (*letters, *(ethics(each, language) for each in surveys)):
        assert "{" not in told
        assert "\n\n\n" not in told
        assert {*re.findall(r"\d([.,])\d\d\b", told)} <= {Words(language).number(0.5, 1)[1]}


def test_ethics_text_has_each_question_with_its_cost() -> None:
    told = ethics(_survey(), "en")

    assert "Have you ever cheated? (changed by chance, epsilon 1.10)" in told
    assert "Is this your first year? (sent as given, without protection)" in told
    assert "All private answers of a report cost epsilon 1.10" in told
    assert _survey().digest in told
    assert "personal link" not in told
    assert "personal link" in ethics(_survey(access="token"), "en")
    assert ethics(_survey(trial=True), "en").startswith("Test run")


def test_declining_is_promised_only_where_every_private_question_has_it() -> None:
    """One question without a category is enough to say so."""
    declined = CHEATED | {"name": "copied", "absent_category": True}

    assert "Respondents can decline every private question" in ethics(_survey(declined), "en")
    assert "Respondents cannot decline every private question" in ethics(_survey(CHEATED, declined), "en")


def test_belief_is_rounded_up() -> None:
    """What is shown is never less than what can be; four coins make exactly 90."""
    assert percent_after(2.0) == 46
    assert percent_after(4 * 1.0986122886681098) == 90


def test_mail_merge_has_a_row_for_each_link_and_no_formula() -> None:
    """A title that a spreadsheet would compute is quoted."""
    made = mail_merge(_survey(title={"en": "=cmd()"}), [LINK, LINK + "&t=2"], "en")
    rows = list(csv.reader(io.StringIO(made)))

    assert rows[0] == ["link", "subject", "letter", "reminder"]
    assert [row[0] for row in rows[1:]] == [LINK, LINK + "&t=2"]
    assert {row[1] for row in rows[1:]} == {"'=cmd()"}
    assert all(row[0] in row[2] and row[0] in row[3] for row in rows[1:])
