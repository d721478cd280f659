"""The link that a respondent is given."""

import pytest
from sottovoce.client.link import Link, parse_link
from sottovoce.shared.errors import TransportError
from sottovoce.shared.redemption import print_token

DIGEST = "0e765eb6bcfb153cd18b5bb165124c5a"


@pytest.mark.parametrize(
    ("url", "origin", "digest"),
    [
        (f"https://a.example/s/affairs#d={DIGEST}", "https://a.example", DIGEST),
        (f"https://a.example:8443/s/affairs/#d={DIGEST}", "https://a.example:8443", DIGEST),
        ("http://localhost:8000/s/affairs", "http://localhost:8000", ""),
        ("https://a.example/deep/er/s/affairs", "https://a.example/deep/er", ""),
        ("http://[::1]:8000/s/affairs", "http://[::1]:8000", ""),
        ("HTTPS://A.Example:443/s/affairs", "https://a.example", ""),
        ("http://127.0.0.1:80/s/affairs", "http://127.0.0.1", ""),
        ("http://127.0.0.1:443/s/affairs", "http://127.0.0.1:443", ""),
    ],
)
def test_parse_link_gives_its_parts(url, origin, digest):
    assert parse_link(f"{url}{'&' if '#' in url else '#'}w=12") == Link(origin, "affairs", digest, wave=12)
    assert parse_link(url) == Link(origin, "affairs", digest)


@pytest.mark.parametrize("end", [".", ",", ">", ").", "),"])
def test_end_of_a_sentence_is_no_part_of_the_link(end):
    """As mail programs hand a link on."""
    url = f"https://a.example/s/affairs#d={DIGEST}"
    assert parse_link(f"{url}{end}") == parse_link(url)


@pytest.mark.parametrize(
    "url",
    ["", "affairs", "ftp://a.example/s/x", "https:///s/x", "https://a.example/x", "https://a.example/s/", "file:///s/x",
     "https://a.example/s/UPPER", "https://a.example/s/../x", "https://a.example:port/s/x", "https://[::1/s/x",
     "https://a.example/s/x#d=123", f"https://a.example/s/x#d={DIGEST.upper()}", f"https://a.example/s/x#d={DIGEST}0",
     "javascript:alert(1)//s/x", "https://a.example//s/x", "https://a.example/b/../s/x", "https://a.example/./s/x",
     "https://a.example/%2e%2e/s/x", "https://a.example/b//s/x", "https://a.example/b%20c/s/x",
     "https://a.example/s/x#w=-1", "https://a.example/s/x#w=01", "https://a.example/s/x#w=10000",
     "https://a.example/s/x#w=one"],
)  # fmt: skip
def test_parse_link_refuses_what_is_not_one(url):
    """A digest that is not whole would check nothing; a second spelling of an address would buy a second draw."""
    with pytest.raises(TransportError):
        parse_link(url)


@pytest.mark.parametrize(
    "host", ["a.example", "10.0.0.1", "localhost.a.example", "127.a.example", "[::2]", "xlocalhost", "1270.0.0.1"]
)
def test_parse_link_refuses_an_open_road(host):
    """Without TLS somebody on the way could read the report and its token; only this device needs none."""
    with pytest.raises(TransportError, match="https"):
        parse_link(f"http://{host}/s/x")
    assert parse_link(f"https://{host}/s/x").survey == "x"


def test_parse_link_sends_no_credentials():
    assert parse_link("https://user:secret@a.example/s/x").origin == "https://a.example"


@pytest.mark.parametrize(
    "spelling", ["0123456789ABCDEF", "0123-4567-89ab-cdef", "O123456789ABCDEF", "oL23456789abcdef"]
)
def test_parse_link_reads_a_token_in_any_spelling(spelling):
    assert parse_link(f"https://a.example/s/x#t={spelling}").token == "0123456789ABCDEF"


def test_parse_link_reads_check_letters_and_keeps_the_token():
    """What is sent and kept is the same whether the letters are there or not."""
    printed = print_token("0123456789ABCDEF", "x")
    assert parse_link(f"https://a.example/s/x#t={printed.lower()}").token == "0123456789ABCDEF"
    with pytest.raises(TransportError, match="another survey"):
        parse_link(f"https://a.example/s/y#t={printed}")


@pytest.mark.parametrize("token", ["ZZ", "U" * 16, "0" * 15, "0" * 17, "0123456789ABCDE%20"])
def test_parse_link_refuses_a_damaged_token(token):
    """Half a token would be refused by the aggregator, after the draw."""
    with pytest.raises(TransportError, match="token") as refused:
        parse_link(f"https://a.example/s/x#t={token}")
    assert token not in str(refused.value)
