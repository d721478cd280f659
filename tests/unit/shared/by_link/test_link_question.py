"""Questions that lead on to another system's survey: what is published, and what never is."""

import hashlib
from typing import Any

import pytest
from sottovoce.shared.by_link.link_question import (
    LETTERS,
    MOST_LETTERS,
    code_length,
    is_link,
    parse_link,
    read_code,
    write_code,
)
from sottovoce.shared.errors import SpecError
from sottovoce.shared.single_question import parse_asked

from tests.documents import one_of
from tests.vectors.cases import named

COIN = {"type": "boolean", "name": "cheated", "label": {"en": "Ever?"}, "mechanism": named("coin_flip")}
THEN = "https://docs.google.com/forms/d/e/1FAIpQL/viewform?usp=pp_url"
LINK = {**COIN, "then": THEN, "code": "entry.1234"}
BLOCK = {
    "block": "both",
    "items": [{"type": "boolean", "name": name, "label": {"en": f"Have you {name}?"}} for name in ("drank", "lied")],
    "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
}

HOSTILE = [
    "http://forms.example.org/", "javascript:alert(1)", "data:text/html,hello", "//forms.example.org/",
    "forms.example.org", "/relative", "https:forms.example.org", "https:/forms.example.org", "https:\\example.org",
    "https://person@forms.example.org/", "https://forms.example.org@evil.example/", "https://a:b@forms.example.org/",
    "https://forms.example.org:8443/", "https://forms.example.org:80/", "https://forms.example.org\\@evil.example/",
    "https://forms.example.org/{token}", "https://forms.example.org/?a=}", "https://forms.example.org/#fragment",
    "https://forms.example.org/a b", "https://forms.example.org/\nHost: x", " https://forms.example.org/",
    "https://forms.example.org/\u202egro", "https://fоrms.example.org/", "https://universität.example/",
    "https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://[::1]/", "https://localhost/",
    "https://forms.example.org./", "https://.example.org/", "https://-a.example.org/", "https://FORMS.example.org/",
    "HTTPS://forms.example.org/", "https://forms.example.org/a/../b", "https://forms.example.org/%2E%2e/b",
    "https://forms.example.org/%zz", 'https://forms.example.org/"onclick="x', "https://forms.example.org/<b>",
    f"https://forms.example.org/{'a' * 2000}", "https://", "", 7, None, {"en": THEN},
]  # fmt: skip

DIGEST = hashlib.sha256(b"question").hexdigest()
CODES = 10_000


def test_report_and_once_are_read_back_from_every_code() -> None:
    """As a person may type it: in small letters, with spaces."""
    for report in (None, 0, 1, 2):
        for once in range(3):
            code = write_code(DIGEST, 3, report, once)
            assert len(code) == code_length(3) <= MOST_LETTERS
            assert read_code(f" {code[:4]} {code[4:].lower()} ", DIGEST, 3) == (report, once)


def test_no_code_with_one_letter_flipped_or_two_exchanged_is_accepted() -> None:
    refused = wrong = 0
    for number in range(CODES):
        code = write_code(hashlib.sha256(str(number).encode()).hexdigest(), 2, number % 2, number % 3)
        place = number % (len(code) - 1)
        other = LETTERS[(LETTERS.index(code[place]) + 1 + number // 20 % 19) % 20]
        exchanged = code[:place] + code[place + 1] + code[place] + code[place + 2 :]
        for edited in {f"{code[:place]}{other}{code[place + 1 :]}", exchanged} - {code}:
            wrong += 1
            with pytest.raises(ValueError, match="edited"):
                read_code(edited, hashlib.sha256(str(number).encode()).hexdigest(), 2)
            refused += 1
    assert refused == wrong > CODES


@pytest.mark.parametrize("text", ["", "yes", "A" * 15, "B" * 25, "B" * 15, "éé"])
def test_other_texts_are_no_codes(text: str) -> None:
    with pytest.raises(ValueError, match="no code of this question"):
        read_code(text, DIGEST, 2)


def test_code_of_another_question_is_refused() -> None:
    """Its check is right, and its digest another one."""
    code = write_code(hashlib.sha256(b"other").hexdigest(), 2, 1, 1)
    with pytest.raises(ValueError, match="no code of this question"):
        read_code(code, DIGEST, 2)


def problems(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SpecError) as refused:
        parse_link(document)
    return dict(refused.value.problems)


def test_hostile_addresses_are_refused_and_punycode_is_taken() -> None:
    told = {problems({**LINK, "then": then})["/then"] for then in HOSTILE}
    assert len(HOSTILE) >= 30
    assert {each.partition("forms.example.org")[0] for each in told} == {"must be an address such as https://"}

    address = "https://xn--universitt-y5a.example:443/a%20b/?x=1&d[/data/x]=2"
    assert parse_link({**LINK, "then": address}).then == address


def test_keys_are_part_of_the_digest_and_of_no_other() -> None:
    """The question alone has the digest that it always had."""
    found = parse_link(LINK)
    assert found.document == {**parse_asked(COIN).document, "then": THEN, "code": "entry.1234"}
    assert found.asked[0].digest == parse_asked(COIN).digest
    digests = {parse_link({**LINK, **more}).digest for more in ({}, {"pass": ["token"]}, {"consent": {"en": "Do?"}})}
    assert len(digests) == 3
    assert is_link(LINK)
    assert not is_link(COIN)
    assert not is_link(7)


@pytest.mark.parametrize(
    ("changes", "pointer", "words"),
    [
        ({"quick_exit": True}, "/quick_exit", "exclude each other"),
        ({"pass": []}, "/pass", "1 to 5"),
        ({"pass": list("abcdef")}, "/pass", "1 to 5"),
        ({"pass": "token"}, "/pass", "1 to 5"),
        ({"pass": [{"person": "a"}, {"person": "b"}]}, "/pass", "one of them at most"),
        ({"pass": [{"visit": "a"}]}, "/pass", "one of them at most"),
        ({"pass": ["a b"]}, "/pass/0", "form"),
        ({"pass": ["a", "a"]}, "/pass/1", "another name"),
        ({"pass": ["usp"]}, "/pass/0", "another name"),
        ({"pass": ["entry.1234"]}, "/code", "another name"),
        ({"code": "a b"}, "/code", "form"),
        ({"value": "v", "channel": "c", "once": "o"}, "/value", "without `code`"),
        ({"code": None}, "/code", "form"),
        ({"consent": {"de": "Ja?"}}, "/consent", "default language"),
        ({"consent": "http://forms.example.org/"}, "/consent", "map"),
        ({"choises": []}, "/choises", "known key"),
        ({"mechanism": {"epsilon": "3.5"}}, "/mechanism", "devices allow 3"),
    ],
)
def test_keys_that_do_not_fit_are_refused(changes: dict[str, Any], pointer: str, words: str) -> None:
    assert words in problems({**LINK, **changes})[pointer]


def test_named_parameters_are_three_and_of_one_question() -> None:
    """Two of them, or those of a block, are refused."""
    columns = {"value": "v", "channel": "c", "once": "o"}
    assert parse_link({**COIN, "then": THEN, **columns}).document["value"] == "v"
    assert "/value" in problems({**COIN, "then": THEN, "value": "v", "channel": "c"})
    assert "use `code`" in problems({**BLOCK, "then": THEN, **columns})["/value"]


@pytest.mark.parametrize(
    "address",
    ["https://x.example/index.php/12345", "https://x.example/index.php?r=survey/index&sid=12345&lang=en",
     "https://team.limesurvey.net/12345", "https://x.example/12345?lang=de", "https://x.example/index.php/12345?newtest=N"],
)  # fmt: skip
def test_limesurvey_needs_a_new_session(address: str) -> None:
    """Without it, what the address hands over is lost within an earlier one."""
    assert "newtest=Y" in problems({**LINK, "then": address})["/then"]
    assert parse_link(
        {**LINK, "then": f"{address.replace('newtest=N', 'a=b')}{'&' if '?' in address else '?'}newtest=Y"}
    )


def test_list_is_one_stop_with_one_code() -> None:
    """A question and a block; each report is read back, and none of them where nothing was answered."""
    entries = [one_of(3, named("kary_rr", odds="3")), BLOCK]
    found = parse_link({"questions": entries, "then": THEN, "code": "entry.1"})
    assert found.sizes == [3, 4]
    assert found.read(write_code(found.digest, 12, 2 * 4 + 1, 1)) == ([2, 1], 1)
    assert found.read(write_code(found.digest, 12, None, 0)) == ([None, None], 0)
    twice = problems({"questions": [COIN, COIN], "then": THEN})
    assert "one name" in twice["/questions"]
    assert "/questions/1/label" in problems({"questions": [COIN, {**COIN, "label": 7}], "then": THEN})
    assert "/consents" in problems({"questions": [COIN], "then": THEN, "consents": {}})


def test_code_with_more_than_24_letters_is_refused() -> None:
    """Twenty yes or no answers at once fit; three of twenty marks each do not."""
    large = [{**one_of(20, named("optimal_unary", epsilon="1")), "name": f"many{place}"} for place in range(3)]
    assert "24 letters" in problems({"questions": large, "then": THEN, "code": "entry.1"})["/code"]
    small = named("binary_rr", a="51/100", b="49/100")
    many = [{**COIN, "name": f"q{place}", "mechanism": small} for place in range(20)]
    assert parse_link({"questions": many, "then": THEN, "code": "entry.1"})
    one = {**large[0], "then": THEN}
    columns = {"value": "v", "channel": "c", "once": "o"}
    assert parse_link({**one, **columns})


def test_stop_of_more_than_devices_allow_in_all_is_refused() -> None:
    """Eight times 1.0987 are more than 8; seven are not."""
    many = [{**COIN, "name": f"q{place}"} for place in range(8)]
    assert "devices allow in all" in problems({"questions": many, "then": THEN})["/questions"]
    assert parse_link({"questions": many[1:], "then": THEN})


@pytest.mark.parametrize("document", [[], 7, None, "text", {"value": "v"}, {"questions": [], "then": THEN}])
def test_what_is_no_question_is_refused(document: Any) -> None:
    assert problems(document)
