from collections.abc import Iterator
from html import unescape
from io import StringIO

import pytest
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.invitations.icon_array import IconArray, dots, least_protected, pictures
from sottovoce.aggregator.invitations.personal_links import links_csv, write_links
from sottovoce.aggregator.invitations.posters import CARDS_ON_A_PAGE, PosterContent, cards, poster

from tests.surveys import document, survey

LINK = "https://survey.example.org/s/exam#d=" + "0123456789abcdef" * 2


def invitation(language: str = "en", **changes: object) -> PosterContent:
    return PosterContent(survey(**changes), 0, Words(language))


def questions(**changes: object) -> list[dict[str, object]]:
    return [{**document()["questions"][0], **changes}]


def test_poster_says_what_its_question_says_of_100() -> None:
    """75 and 25 for a coin, as many dots filled, and the sentence of the form's first page."""
    page = unescape(poster(invitation(questions=questions()), LINK))

    assert "75 of 100 send yes if it is true." in page
    assert "25 of 100 send yes if it is not." in page
    assert page.count('class="full"') == page.count('class="off"') == 100
    assert "rolls dice" in page


def test_picture_is_of_the_question_that_is_least_protected() -> None:
    """What holds for the best protected one would promise too much of the others."""
    weak = questions(name="weak", mechanism={"name": "binary_rr", "a": "9/10", "b": "1/10"})
    page = unescape(poster(invitation(questions=[*questions(), *weak]), LINK))

    assert "90 of 100 send yes if it is true." in page
    assert "The least protected question:" in page


def test_only_yes_and_no_have_pictures_and_none_is_certain() -> None:
    for place, count in ((0, 2), (1, 0)):
        question = least_protected(survey(questions=[document()["questions"][place]]))
        assert question is not None
        assert len(pictures(question)) == count
    page = poster(invitation(questions=document()["questions"][2:]), LINK)
    assert ('class="off"' in page, "dice" in page) == (False, False)

    almost = IconArray("no", pictures(survey().questions[0])[0].share / 1000)
    assert (almost.filled, almost.is_exact, dots(almost.filled).count("full")) == (1, False, 1)


@pytest.mark.parametrize(("links", "sheets"), [(1, 1), (8, 1), (9, 2), (17, 3)])
def test_sheet_holds_eight_cards(links: int, sheets: int) -> None:
    page = cards(invitation(), [f"{LINK}&t={number}" for number in range(links)])
    assert (page.count("<article"), page.count("<section")) == (links, sheets)
    assert CARDS_ON_A_PAGE == 8


def test_paper_says_what_is_true_of_its_links() -> None:
    """A card, that nobody can look up what a blind one brought; a poster, that its link alone lets nobody in."""
    blind, token = invitation(access="blind"), invitation(access="token")
    looked_up = "No one can look up which answers are yours."
    assert [looked_up in cards(each, [LINK]) for each in (blind, token)] == [True, False]
    needed = "you need a personal link"
    assert [needed in poster(each, LINK) for each in (blind, token, invitation())] == [True, True, False]


def test_try_out_says_so_on_paper() -> None:
    trial = invitation(trial=True, name="exam-trial-1")
    assert poster(trial, LINK).count("Test run") == 1
    assert cards(trial, [LINK, LINK]).count("Test run") == 2


def test_long_title_is_set_smaller() -> None:
    """So that the poster stays one page."""
    assert '<h1 class="long"' in poster(invitation(title={"en": "A title " * 20}), LINK)


def test_coin_of_ones_own_is_what_the_poster_promises() -> None:
    """The device rolls nothing there."""
    page = poster(invitation(questions=questions(), privacy={"procedure": "own_coin"}), LINK)
    assert ("toss a coin" in page, "Your device" in page) == (True, False)


def test_rows_are_written_as_they_come_below_a_heading() -> None:
    """Which stands there without a link, too."""
    file, lines = StringIO(newline=""), []

    def links() -> Iterator[tuple[str, str]]:
        for number in range(4):
            lines.append(file.getvalue().count("\n"))
            yield f"t{number}", f"https://survey.example.org/{number}"

    write_links(file, links(), trial=False)
    assert lines == [0, 2, 3, 4]
    assert file.getvalue() == links_csv(list(links()), trial=False)

    assert links_csv([], trial=False) == "token,link\r\n"
    assert links_csv([], trial=True).endswith("\r\ntoken,link\r\n")
