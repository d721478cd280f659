import io
import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio import drafts

from tests.surveys import document, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.conftest import SITE

SAME = {"Sec-Fetch-Site": "same-origin"}


class Researcher:
    def __init__(self, app: Flask) -> None:
        self._client: Any = log_in(app)[0]

    def get(self, path: str, language: str = "en") -> str:
        headers = {"Accept-Language": language}
        return str(self._client.get(f"/dashboard/{path}", base_url=SITE, headers=headers).text)

    def post(self, path: str, **form: Any) -> Any:
        token = re.search(r'name="form_token" value="(\w+)"', self.get(""))
        assert token
        data = {"form_token": token[1], **form}
        return self._client.post(f"/dashboard/{path}", data=data, base_url=SITE, headers=SAME)


def newest(storage: SQLiteStorage, name: str) -> SurveyDraft:
    found = storage.drafts.draft(name)
    assert found
    return SurveyDraft.read(found.document)


def kept_titles(storage: SQLiteStorage) -> list[str]:
    versions = [storage.drafts.draft("exam", number) for number in storage.drafts.versions("exam")]
    return [SurveyDraft.read(kept.document).title for kept in versions if kept]


@pytest.fixture
def exam(storage: SQLiteStorage) -> SQLiteStorage:
    storage.drafts.add("exam", draft_of(document()).dumped)
    return storage


def test_survey_is_written_and_published_without_a_script(ann: Researcher, storage: SQLiteStorage) -> None:
    assert "no surveys yet" in ann.get("")
    assert ann.post("new", **{"from": "empty", "title": "Life on campus"}).location.endswith("/life-on-campus/design")
    design = "surveys/life-on-campus/design"
    assert ann.post(design, version="1", people="1000", do="add:boolean").location.endswith("#q0.label")
    ann.post(design, version="2", **{"q0.label.en": "Ever cheated?", "researcher.name.en": "Dr A"}, do="save")
    page = ann.get(design)
    assert "With 1,000 people, expect to be within 8 points" in page
    assert "Of 100 of whom it is true, 60 send it." in page
    assert ann.post(design, version="3", do="publish").location.endswith("/publish")
    assert "Ever cheated?" in ann.get("surveys/life-on-campus/publish")
    ann.post("surveys/life-on-campus/publish", version="3")
    assert storage.revisions("life-on-campus")[0].revision == 1
    assert storage.drafts.draft("life-on-campus") is None


def test_whoever_writes_over_another_sees_both_texts(ann: Researcher, exam: SQLiteStorage) -> None:
    design = "surveys/exam/design"
    ann.post(design, version="1", **{"title.en": "Theirs"})
    reply = ann.post(design, version="1", **{"title.en": "<b>Mine</b>"})
    assert reply.status_code == 409
    assert "Theirs" in reply.text
    assert "&lt;b&gt;Mine&lt;/b&gt;" in reply.text
    assert newest(exam, "exam").title == "Theirs"

    ann.post(design, version="1", over="2", do="version:2", **{"title.en": "<b>Mine</b>"})
    assert kept_titles(exam) == ["Theirs", "<b>Mine</b>", "Theirs", "Exams"]


def test_saves_of_one_visit_come_in_any_order_and_more_than_once(ann: Researcher, exam: SQLiteStorage) -> None:
    """All over the version that the visit knows of; what was typed last stays, and nobody is told of another."""

    def saved(title: str, stamp: str, by: str = "script") -> int:
        form = {"version": "1", "title.en": title, "stamp": stamp, "by": by}
        return int(ann.post("surveys/exam/design", **form).status_code)

    assert saved("First", "ab.1") == 200
    assert saved("Third", "ab.3") == 200
    assert saved("Second", "ab.2") == 200
    assert saved("Third", "ab.3", "again") == 200
    assert kept_titles(exam) == ["Third", "First", "Exams"]
    assert saved("Another's", "cd.1") == 409
    assert saved("Nobody's", "") == 409
    assert saved("Too late", "ab", "again") == 409

    ann.post("surveys/exam/design", version="3", **{"title.en": "Theirs", "stamp": "cd.2"})
    assert saved("Third", "ab.3", "again") == 200
    assert saved("Fourth", "ab.4", "again") == 409
    assert saved("Third", "ab.3") == 409
    assert kept_titles(exam) == ["Theirs", "Third", "First", "Exams"]


def test_save_for_a_draft_that_is_gone_is_not_laid_over_another_of_its_name(
    ann: Researcher, storage: SQLiteStorage
) -> None:
    """A tab was without a connection; meanwhile it was deleted, or published, and begun anew."""
    posted = {"version": "1", "of": "ab.0", "title.en": "Of the former one", "stamp": "ef.1", "by": "again"}
    storage.drafts.add("exam", replace(draft_of(document()), stamp="cd.0").dumped)
    reply = ann.post("surveys/exam/design", **posted)
    assert (reply.status_code, kept_titles(storage)) == (409, ["Exams"])
    assert "Of the former one" in reply.text
    chosen = {**posted, "over": "1"}
    del chosen["by"]
    ann.post("surveys/exam/design", **chosen)
    assert kept_titles(storage) == ["Of the former one", "Exams"]


@pytest.mark.usefixtures("exam")
def test_script_is_told_of_the_version_that_it_saved(ann: Researcher) -> None:
    form = {"version": "1", "title.en": "Mine", "stamp": "ab.1", "by": "script"}
    page = ann.post("surveys/exam/design", **form).text
    assert 'name="version" value="2"' in page
    assert 'data-stamp="ab.1"' in page
    ann.post("surveys/exam/design", version="2", stamp="<b>", **{"title.en": "More"})
    assert 'data-stamp=""' in ann.get("surveys/exam/design")


@pytest.mark.usefixtures("exam")
def test_version_that_is_gone_is_not_saved_over(ann: Researcher) -> None:
    assert ann.post("surveys/exam/design", version="777", **{"title.en": "Late"}).status_code == 409


def test_options_keep_their_names_when_others_come_and_go(ann: Researcher, exam: SQLiteStorage) -> None:
    """Counts of corrections add up by them."""
    ann.post("surveys/exam/design", version="1", **{"q1.options.en": "Fun\r\nTime\n\nToo hard"})
    choices = newest(exam, "exam").cards[1].asked["choices"]
    assert [choice["name"] for choice in choices] == ["fun", "time", "too_hard"]


@pytest.mark.usefixtures("exam")
def test_what_was_typed_comes_back_as_text(ann: Researcher) -> None:
    typed = "<script>alert(1)</script>" + "x" * 10_000
    ann.post("surveys/exam/design", version="1", **{"q0.label.en": typed})
    page = ann.get("surveys/exam/design")
    assert "<script>alert" not in page
    assert "This text has 10,025 letters" in page


def test_goals_name_the_question_and_not_its_number(ann: Researcher, storage: SQLiteStorage) -> None:
    """A text before it has a number on Design, and none in the flow chart on Publish."""
    note = {"type": "note", "name": "intro", "label": {"en": "About you."}}
    storage.drafts.add("exam", draft_of(document(questions=[note, *document()["questions"]])).dumped)
    for page in ("design", "publish"):
        told = re.sub(r"<[^>]+>", "", ann.get(f"surveys/exam/{page}"))
        assert re.search(r"\(Why\?\): For [\d.]+ points you need about", told)
        assert "(Question" not in told


def test_people_alone_are_of_the_planned_number_or_a_named_one(ann: Researcher, storage: SQLiteStorage) -> None:
    sentence = "No number of people is planned, so the shares alone with it are of 100."
    for name, people in (("exam", None), ("other", 400)):
        draft = draft_of(document(name=name))
        storage.drafts.add(name, replace(draft, people=people).dumped)
        assert (sentence in ann.get(f"surveys/{name}/publish")) == (people is None)


def test_survey_that_devices_refuse_is_not_published(ann: Researcher, storage: SQLiteStorage) -> None:
    dear = document(questions=[{**document()["questions"][0], "mechanism": {"epsilon": "4"}}])
    storage.drafts.add("exam", draft_of(dear).dumped)
    assert "devices allow 3" in ann.get("surveys/exam/publish")
    assert ann.post("surveys/exam/publish", version="1").status_code == 422
    assert storage.revisions("exam") == []


def test_draft_that_changed_meanwhile_is_shown_again_before_it_is_published(
    ann: Researcher, exam: SQLiteStorage
) -> None:
    """Nobody freezes what nobody has looked at."""
    ann.post("surveys/exam/design", version="1", **{"title.en": "Other"})
    assert "has changed since" in ann.post("surveys/exam/publish", version="1").text
    assert exam.revisions("exam") == []


def test_correction_says_which_questions_keep_their_counts(ann: Researcher, storage: SQLiteStorage) -> None:
    """While fieldwork runs: publishing again is a new revision, and the first goes on answering.

    As Results do: other odds are pooled, another order of options, or another answer for none, is another question.
    """
    storage.publish(survey())
    assert "published" in ann.get("surveys/exam/design")
    ann.post("surveys/exam/design/correct")
    ann.post("surveys/exam/design", version="1", **{"q0.harm": "badly", "q1.label.en": "Why so?"})
    told = re.sub(r"<[^>]+>", " ", ann.get("surveys/exam/publish"))
    assert re.search(r"Cheated\?\s+go on\s+Why so\?\s+go on\s+Year\?\s+go on", told)
    ann.post("surveys/exam/publish", version="2")
    assert [(row.revision, row.retired) for row in storage.revisions("exam")] == [(1, False), (2, False)]
    ann.post("surveys/exam/settings/retire")
    assert [row.retired for row in storage.revisions("exam")] == [True, False]


def test_closing_says_what_devices_still_keep(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    assert "Devices wait" not in ann.get("surveys/exam/settings")
    storage.publish(survey(revision=2, privacy={"send_within_hours": 24}))
    assert "Devices wait up to 24 hours before they send" in ann.get("surveys/exam/settings")


def test_survey_is_closed_opened_again_and_deleted_by_its_name(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    ann.post("surveys/exam/settings/close")
    assert storage.revisions("exam")[0].closed
    ann.post("surveys/exam/settings/reopen")
    assert not storage.revisions("exam")[0].closed
    assert "not_typed" in ann.post("surveys/exam/settings/delete", typed="exams").location
    assert "the name does not match" in ann.get("surveys/exam/settings?outcome=not_typed")
    ann.post("surveys/exam/settings/delete", typed="exam")
    assert storage.revisions("exam") == []
    assert ann.post("new", **{"from": "empty", "title": "Exam"}).location.endswith("/exam-2/design")


def test_file_that_holds_no_survey_is_refused_in_words(ann: Researcher, storage: SQLiteStorage) -> None:
    for data in (b"", b"- a\n", b"questions: 5\n", b"questions: [1]\n", b"title: x\nquestions: []\n",
                 b"a: &a [*a]\n", b"\xff", b"PK\x03\x04 no workbook", b"{"):  # fmt: skip
        reply = ann.post("new", **{"from": "file", "file": (io.BytesIO(data), "survey.yaml")})
        assert (reply.status_code, 'role="alert"' in reply.text) == (422, True), data
    assert storage.drafts.drafts() == []


def test_file_and_copy_begin_a_draft_whose_owner_is_whoever_began_it(ann: Researcher, storage: SQLiteStorage) -> None:
    text = b"title: {en: Mine}\ndefault_language: en\nquestions: [{type: boolean, name: a, label: {en: A}}]\n"
    ann.post("new", **{"from": "file", "file": (io.BytesIO(text), "survey.yaml")})
    ann.post("new", **{"from": "copy", "copy": "mine"})
    assert [draft.name for draft in storage.drafts.drafts()] == ["mine", "mine-2"]
    assert [role for _, role in storage.access.granted("mine-2")] == ["owner"]


def test_list_finds_and_sorts_drafts_and_surveys(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    storage.drafts.add("campus", draft_of(document(title={"en": "Campus"})).dumped)
    rows = re.findall(r"<bdi>(\w+)</bdi>", ann.get(""))
    assert rows == ["Campus", "Exams"]
    assert re.findall(r"<bdi>(\w+)</bdi>", ann.get("?q=exa")) == ["Exams"]
    assert "No survey title contains these words" in ann.get("?q=none")


def test_list_is_cut_to_a_state_and_tells_equal_titles_apart(ann: Researcher, storage: SQLiteStorage) -> None:
    for name in ("open-one", "closed-one"):
        storage.publish(survey(name=name))
    storage.close_survey("closed-one", 20_000)
    storage.drafts.add("draft-one", draft_of(document()).dumped)
    for state in ("draft", "open", "closed"):
        assert re.findall(r'surveys/([a-z-]+)/"', ann.get(f"?state={state}")) == [f"{state}-one"]
        assert f">{state}-one</span>" in ann.get(f"?state={state}")
    assert len(re.findall(r'surveys/([a-z-]+)/"', ann.get("?state=sentinel"))) == 3
    assert "No survey matches" in ann.get("?state=draft&q=none")


def test_publishing_that_was_cut_short_is_finished_by_the_next_try(
    ann: Researcher, exam: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The survey is there as a whole, and once; the draft goes the second time."""
    with monkeypatch.context() as killed:
        killed.setattr(drafts, "finish", lambda *_: 1 // 0)
        assert ann.post("surveys/exam/publish", version="1").status_code == 500
    assert ann.post("surveys/exam/publish", version="1").status_code == 303
    assert [row.digest for row in exam.revisions("exam")] == [survey().digest]
    assert exam.drafts.drafts() == []


def test_planned_number_stays_with_what_was_published(ann: Researcher, storage: SQLiteStorage) -> None:
    """The list and Results tell how far the reports are towards it, and a correction begins with it."""
    storage.drafts.add("exam", replace(draft_of(document()), people=1500, group=4000).dumped)
    assert ann.post("surveys/exam/publish", version="1").status_code == 303
    assert "0 of 1,500" in ann.get("")
    assert "0 of 1,500 planned" in ann.get("surveys/exam/results")

    ann.post("surveys/exam/design/correct")
    page = ann.get("surveys/exam/design")
    assert re.search('name="people"[^>]*value="1500"', page)
    assert re.search('name="group"[^>]*value="4000"', page)


PANEL = {
    "wave0.opens": "2026-06-01T00:00",
    "wave0.closes": "2026-07-01T00:00",
    "wave1.opens": "2026-07-01T00:00",
    "wave1.closes": "2026-08-01T00:00",
    "wave2.opens": "",
    "wave2.closes": "",
}


def test_panel_is_made_on_the_page(ann: Researcher, storage: SQLiteStorage) -> None:
    place = next(number for number, each in enumerate(document()["questions"]) if each.get("public"))
    storage.drafts.add("exam", draft_of(document()).dumped)
    more = {"cohort": str(place), "release_batch": "50", "ids_days": "90"}
    ann.post("surveys/exam/design", version="1", do="save", **PANEL, **more)
    made = survey_of_draft(newest(storage, "exam"), "exam")
    assert [f"{wave.opens:%m-%d}/{wave.closes:%m-%d}" for wave in made.waves] == ["06-01/07-01", "07-01/08-01"]
    assert (made.cohort, made.release_batch, made.ids_days) == (place, 50, 90)
    page = ann.get("surveys/exam/design")
    assert len(re.findall(r'name="wave\d.opens" type="datetime-local"', page)) == 3
    assert re.search(f'<option value="{place}" selected', page.partition('name="cohort"')[2])

    ann.post("surveys/exam/design", version="2", do="save", **dict.fromkeys((*PANEL, *more), ""))
    made = survey_of_draft(newest(storage, "exam"), "exam")
    assert (len(made.waves), made.cohort, made.release_batch, made.ids_days) == (1, None, 25, 30)


@pytest.mark.usefixtures("exam")
def test_what_is_wrong_with_a_panel_leads_to_its_field(ann: Researcher) -> None:
    wrong = {"wave0.closes": "2026-05-01T00:00", "wave1.closes": "", "release_batch": "many"}
    ann.post("surveys/exam/design", version="1", do="save", **PANEL | wrong)
    page = ann.get("surveys/exam/design")
    for field in ("wave0.closes", "wave1.closes", "release_batch"):
        assert f'href="#{field}"' in page
        assert f'id="{field}"' in page
    assert 'value="many"' in page


def test_links_that_lead_to_no_report_need_a_wait(ann: Researcher, exam: SQLiteStorage) -> None:
    """Chosen without hours they are no survey yet; with few it is advised against; and they can be taken back."""
    said = {"": "problem_no_wait", "many": "problem_other", "1": "problem_short_wait"}
    for version, hours in enumerate(said, start=1):
        ann.post("surveys/exam/design", version=str(version), do="save", access="blind", send_within_hours=hours)
        page = ann.get("surveys/exam/design")
        assert '<option value="blind" selected' in page
        assert 'href="#send_within_hours"' in page
        assert 'id="send_within_hours"' in page
        assert {problem.key for problem in problems_of(newest(exam, "exam"), "exam")} >= {said[hours][8:]}
    made = survey_of_draft(newest(exam, "exam"), "exam")
    assert (made.is_blind, made.send_within_hours) == (True, 1)
    ann.post("surveys/exam/design", version="4", do="save", access="blind", send_within_hours="24")
    assert 'href="#send_within_hours"' not in ann.get("surveys/exam/design")
    ann.post("surveys/exam/design", version="5", do="save", access="open", send_within_hours="")
    made = survey_of_draft(newest(exam, "exam"), "exam")
    assert (made.asks_for_invitation, made.send_within_hours) == (False, 0)


def test_quick_exit_warns_of_a_telling_name(ann: Researcher, exam: SQLiteStorage) -> None:
    form = {"do": "save", "quick_exit": "1", "neutral_title.en": "Notes"}
    ann.post("surveys/exam/design", version="1", **form)
    made = survey_of_draft(newest(exam, "exam"), "exam")
    assert (made.quick_exit, made.document["neutral_title"]) == (True, {"en": "Notes"})
    assert 'href="#quick_exit"' in ann.get("surveys/exam/design")
    ann.post("surveys/exam/design", version="2", **form | {"quick_exit": "https://weather.example"})
    assert survey_of_draft(newest(exam, "exam"), "exam").document["quick_exit"] == "https://weather.example"
    assert "<option selected>https://weather.example</option>" in ann.get("surveys/exam/design")
    ann.post("surveys/exam/design", version="3", **form | {"quick_exit": "", "neutral_title.en": ""})
    made = survey_of_draft(newest(exam, "exam"), "exam")
    assert {"quick_exit", "neutral_title"} & made.document.keys() == set()
    assert 'href="#quick_exit"' not in ann.get("surveys/exam/design")


def test_question_after_a_private_answer_calls_for_a_wait(ann: Researcher, storage: SQLiteStorage) -> None:
    """The time to answer hints at that answer: one button makes devices wait, and the warning is gone."""
    cheated, reason, year = document()["questions"]
    further = {**reason, "visible_if": {"cheated": "yes"}, "when_absent": "fun"}
    storage.drafts.add("exam", draft_of(document(questions=[cheated, year, further])).dumped)
    page = ann.get("surveys/exam/design")
    assert 'value="wait:24"' in page
    assert 'id="send_within_hours"' in page
    ann.post("surveys/exam/design", version="1", do="wait:24")

    assert survey_of_draft(newest(storage, "exam"), "exam").send_within_hours == 24
    assert 'value="wait:24"' not in ann.get("surveys/exam/design")


@pytest.mark.parametrize(
    ("closes", "told"),
    [
        ("2026-11-02T00:10", ("no_window", True)),
        ("2026-11-02T09:00", ("short_window", False)),
        ("2026-11-09T00:00", None),
        ("soon", None),
    ],
)
def test_time_in_which_devices_cannot_wait_is_told_at_its_end(
    ann: Researcher, exam: SQLiteStorage, closes: str, told: tuple[str, bool] | None
) -> None:
    """Of an end that is no moment nothing is said but that."""
    form = {"version": "1", "access": "blind", "send_within_hours": "24", "opens": "2026-11-02T00:00", "closes": closes}
    ann.post("surveys/exam/design", **form)
    found = [each for each in problems_of(newest(exam, "exam"), "exam") if each.place.field == "closes"]
    assert [(each.key, each.grave) for each in found if each.key.endswith("window")] == ([told] if told else [])


def test_language_that_lacks_texts_is_called_by_its_name(ann: Researcher, storage: SQLiteStorage) -> None:
    """A tag is a code, which nobody has to know."""
    storage.drafts.add("exam", draft_of(document(title={"en": "Exams", "ar": "امتحانات"})).dumped)
    page = ann.get("surveys/exam/design")

    assert "Texts missing in \u2068العربية\u2069: 8." in page
    assert "language ar" not in page


def test_draft_is_called_by_its_title_in_the_readers_language(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", draft_of(document(title={"en": "Exams", "de": "Prüfungen"})).dumped)
    for language, title in (("de", "Prüfungen"), ("fr", "Exams")):
        for path in ("", "surveys/exam/design", "surveys/exam/team"):
            assert f"<bdi>{title}</bdi>" in ann.get(path, language)


def test_page_says_how_it_protects_and_what_that_will_allow(ann: Researcher, storage: SQLiteStorage) -> None:
    """Epsilon beside each step, the channel's integers behind a click, and of the whole: people, a table, a panel."""
    storage.drafts.add("exam", replace(draft_of(document()), people=1637).dumped)
    ann.post("surveys/exam/design", version="1", **PANEL)
    page = ann.get("surveys/exam/design")

    steps = re.search(r'id="q0.harm".*?</fieldset>', page, re.DOTALL)
    assert steps
    assert re.findall(r"Epsilon ([\d.]+)\.", steps[0]) == ["2.00", "1.10", "0.70"]
    assert re.search(r"How the software protects it.*?binary_rr|How the software protects it.*?coin_flip", page)
    assert "A cell that holds 10 of 100 in a table of two questions comes within" in page
    assert re.search(r"Shares \(Why\?\): For 3 points you need about [\d,]+ people\.", page)
    assert "A respondent who answers in all 2 waves spends 4.40 in total." in page


def test_card_says_that_nobody_can_decline(ann: Researcher, storage: SQLiteStorage) -> None:
    """A number has no answer of its own for it; a value for a missing answer is a way out."""
    number = {"type": "integer", "name": "age", "label": {"en": "How old?"}, "min": "18", "max": "99"}
    number |= {"mechanism": {"epsilon": "1"}}
    for given, said in ((number, True), (number | {"when_absent": "18"}, False)):
        asked = document(questions=[{**document()["questions"][0], "absent_category": True}, given])
        storage.drafts.add("exam", draft_of(asked).dumped)
        cards = re.findall(
            r'<section class="card fold question".*?</section>', ann.get("surveys/exam/design"), re.DOTALL
        )
        assert ["People cannot skip this question" in card for card in cards] == [False, said]
        storage.drafts.delete("exam")


def test_card_shows_the_name_in_the_files(ann: Researcher, storage: SQLiteStorage) -> None:
    """Made of the text, until another is typed; two of the same text differ."""
    asked = [{**document()["questions"][0], "name": f"q{number}", "label": {"en": "Have you ever copied?"}}
             for number in (1, 2)]  # fmt: skip
    storage.drafts.add("exam", draft_of(document(questions=asked)).dumped)
    page = ann.get("surveys/exam/design")
    assert re.findall(r'Name in the files: <code dir="ltr">(.*?)</code>', page) == ["copied", "copied_2"]


def test_card_of_a_yes_no_question_makes_it_an_anchor(ann: Researcher, storage: SQLiteStorage) -> None:
    anchor = {**document()["questions"][0], "anchor": True, "known_share": "9/10"}
    storage.drafts.add("exam", draft_of(document(questions=[anchor])).dumped)
    assert "<option selected>9/10</option>" in ann.get("surveys/exam/design")
    found = []
    for version, form in enumerate(({"q0.known_share": "0"}, {"q0.type": "rating"}), 1):
        ann.post("surveys/exam/design", version=str(version), **form)
        asked = newest(storage, "exam").cards[0].asked
        found.append((asked.get("anchor"), asked.get("known_share")))
    assert found == [(True, "0"), (None, None)]


@pytest.mark.usefixtures("exam")
def test_earlier_versions_say_what_changed_after_them(ann: Researcher) -> None:
    ann.post("surveys/exam/design", version="1", **{"title.en": "Other exams"})
    ann.post("surveys/exam/design", version="2", **{"q1.label.en": "For which reason?"})
    page = ann.get("surveys/exam/design")

    assert re.findall(r"(Version \d)(?: · \w+ \d+, \d{4}.*UTC)?</button> <span class=\"hint\">([^<]+)", page) == [
        ("Version 2", "Changed after it: Question 2: Text (English)"),
        ("Version 1", "Changed after it: The survey: Title (English)"),
    ]
    for version in range(3, 14):
        ann.post("surveys/exam/design", version=str(version), **{"title.en": f"Exams {version}"})
    assert ann.get("surveys/exam/design").count("Changed after it") == 10


@pytest.mark.usefixtures("exam")
def test_question_that_came_or_went_is_one_change(ann: Researcher) -> None:
    """Whatever numbers others have then: no field of theirs has changed."""
    ann.post("surveys/exam/design", version="1", do="copy:0")
    ann.post("surveys/exam/design", version="2", do="delete:0")
    told = re.findall(r'</button> <span class="hint">Changed after it: ([^<]+)', ann.get("surveys/exam/design"))

    assert told == ["Question 1: deleted", "Question 2: added"]


@pytest.mark.usefixtures("exam")
def test_list_says_that_a_draft_is_deleted(ann: Researcher) -> None:
    there = ann.post("surveys/exam/design/discard", typed="exam").location
    assert "The survey is deleted." in ann.get(there.partition("/dashboard/")[2])
    assert "The survey is deleted." not in ann.get("")
