"""Which revision a link names, and what gives a forged one away."""

from dataclasses import dataclass
from hashlib import sha256

import pytest
from sottovoce.client.link import Link
from sottovoce.client.revisions import MOST, contradictions, published, standing, survey_for
from sottovoce.shared import canonical
from sottovoce.shared.errors import SpecError, TransportError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

from tests.documents import question, survey
from tests.unit.client.issuer import MODULI

COIN = question({"name": "coin_flip"})


def revision(number: int, replaces: Survey | None = None, **more: object) -> Survey:
    link = {} if replaces is None else {"replaces": replaces.digest}
    return parse_survey(survey(COIN, revision=number, title={"en": f"Revision {number}"}, **link, **more))


FIRST = revision(1)
SECOND = revision(2, FIRST)
THIRD = revision(3, SECOND)
OTHER_SECOND = revision(2, FIRST, description={"en": "For one person"})
OTHER_THIRD = revision(3, OTHER_SECOND)


@dataclass
class Shown:
    """An aggregator that shows these revisions, newest first."""

    revisions: tuple[Survey, ...]
    newest: Survey | None = None
    reply: bytes | None = b""
    asked: int = 0

    def fetch_survey(self, name: str) -> bytes:  # noqa: ARG002 - there is one
        return (self.newest or self.revisions[0]).canonical

    def fetch_revisions(self, name: str) -> bytes | None:
        self.asked += 1
        documents = [each.document for each in self.revisions]
        whole = {"format": "sottovoce-revisions/1", "revisions": documents, "survey": name}
        return canonical.dump(whole) if self.reply == b"" else self.reply


def link_to(named: Survey | None) -> Link:
    return Link("https://a.example", "vector", "" if named is None else named.digest[:32])


@pytest.mark.parametrize("named", [FIRST, SECOND, THIRD])
def test_link_finds_its_revision(named: Survey) -> None:
    """Any published one; the list is asked for only if the newest is not the link's."""
    shown = Shown((THIRD, SECOND, FIRST))

    assert survey_for(shown, link_to(named)) == named
    assert shown.asked == (named is not THIRD)


def test_link_without_a_digest_gets_the_newest() -> None:
    """It names nothing that could differ."""
    assert survey_for(Shown((SECOND, FIRST)), link_to(None)) == SECOND


def test_revisions_of_before_they_named_each_other_are_read() -> None:
    """What was published without a predecessor is not refused now."""
    old = revision(2)

    assert survey_for(Shown((old, FIRST)), link_to(FIRST)) == FIRST
    assert survey_for(Shown((revision(3, old), old, FIRST)), link_to(FIRST)) == FIRST


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param((THIRD, OTHER_SECOND, FIRST), id="another predecessor"),
        pytest.param((THIRD, SECOND, OTHER_SECOND, FIRST), id="one number twice"),
        pytest.param((THIRD, FIRST), id="one left out"),
        pytest.param((SECOND, THIRD, FIRST), id="another order"),
        pytest.param((THIRD, OTHER_THIRD, FIRST), id="two newest"),
        pytest.param((revision(4, FIRST), revision(3, FIRST), FIRST), id="one predecessor for two"),
    ],
)
def test_revisions_that_contradict_each_other_are_refused(shown: tuple[Survey, ...]) -> None:
    """A revision for one person cannot stand in one chain with those of all others."""
    with pytest.raises(TransportError, match="contradict each other; nothing was sent"):
        survey_for(Shown(shown), link_to(FIRST))
    assert contradictions(published(Shown(shown), "vector")) != []


def test_two_keys_for_one_wave_contradict_each_other() -> None:
    """Whoever holds both would know which of them a report came with; one version without keys hides nothing."""
    first = revision(1, access=blind(MODULI[0]))
    same, other = revision(2, first, access=blind(MODULI[0])), revision(2, first, access=blind(MODULI[1]))
    between = revision(2, first)
    late = revision(3, between, access=blind(MODULI[1]))

    assert contradictions(published(Shown((same, first)), "vector")) == []
    for shown, unsigned in (((other, first), 0), ((late, between, first), 2)):
        told = contradictions(published(Shown(shown), "vector"))
        assert [kind in each for each in told for kind in ["different keys for one wave"]] == [True] + unsigned * [
            False
        ]
        assert sum("reports signed unseen" in each for each in told) == unsigned
        with pytest.raises(TransportError, match="contradict each other; nothing was sent"):
            survey_for(Shown(shown), link_to(first))


@pytest.mark.parametrize("is_later", [True, False])
def test_signed_beside_unsigned_contradicts_itself(is_later: bool) -> None:
    """The one without keys sends the invitation itself."""
    access = blind(MODULI[0])
    first = revision(1, **({} if is_later else {"access": access}))
    second = revision(2, first, **({"access": access} if is_later else {}))

    [told] = contradictions(published(Shown((second, first)), "vector"))
    assert "reports signed unseen" in told
    with pytest.raises(TransportError, match="contradict each other; nothing was sent"):
        survey_for(Shown((second, first)), link_to(first))


def blind(*moduli: int) -> dict[str, list[str]]:
    return {"blind": [spell_modulus(modulus) for modulus in moduli]}


def test_newest_revision_stands_in_the_list_or_was_the_newest() -> None:
    """Who is shown one survey and a list without it is shown two truths."""
    with pytest.raises(TransportError, match="contradict"):
        survey_for(Shown((SECOND, FIRST), newest=OTHER_SECOND), link_to(FIRST))

    assert survey_for(Shown((THIRD, SECOND, FIRST), newest=SECOND), link_to(FIRST)) == FIRST


@pytest.mark.parametrize("shown", [(SECOND, FIRST), (THIRD,)])
def test_revision_that_is_not_shown_is_another_survey(shown: tuple[Survey, ...]) -> None:
    """As with an aggregator that has no such list."""
    with pytest.raises(TransportError, match="another survey than the one your link names; nothing was sent"):
        survey_for(Shown(shown), link_to(OTHER_SECOND))
    with pytest.raises(TransportError, match="another survey"):
        survey_for(Shown((SECOND, FIRST), reply=None), link_to(FIRST))


@pytest.mark.parametrize("named", [SECOND, FIRST])
def test_digest_is_compared_to_its_last_digit(named: Survey) -> None:
    """Eight digits can be tried out by whoever writes surveys."""
    last = "1" if named.digest[31] == "0" else "0"
    link = Link("https://a.example", "vector", named.digest[:31] + last)

    with pytest.raises(TransportError, match="another survey"):
        survey_for(Shown((SECOND, FIRST)), link)


def test_survey_of_another_name_is_refused() -> None:
    with pytest.raises(TransportError, match="another survey"):
        survey_for(Shown((FIRST,)), Link("https://a.example", "another", FIRST.digest[:32]))


@pytest.mark.parametrize(
    "reply",
    [
        b"x", b"[]", b"{}", b'{"format":"sottovoce-revisions/1","revisions":[],"survey":"vector"}',
        b'{"format":"sottovoce-revisions/1","revisions":[1],"survey":"vector"}',
        b'{"format":"sottovoce-revisions/1","revisions":[{}],"survey":"vector"}',
        b'{"format":"sottovoce-revisions/1","revisions":[{"revision":true}],"survey":"vector"}',
        b'{"format":"sottovoce-revisions/1","revisions":[{"replaces":1,"revision":1}],"survey":"vector"}',
        b'{"format":"sottovoce-revisions/1","revisions":{"revision":1},"survey":"vector"}',
        b'{"format":"sottovoce-revisions/1","revisions":[{"revision":1}],"survey":"other"}',
        b'{"format":"sottovoce-revisions/2","revisions":[{"revision":1}],"survey":"vector"}',
    ],
)  # fmt: skip
def test_list_that_cannot_be_read_is_refused(reply: bytes) -> None:
    """Whatever it holds; nothing of it is repeated."""
    with pytest.raises(TransportError, match="cannot be read; nothing was sent"):
        survey_for(Shown((SECOND,), reply=reply), link_to(FIRST))


def test_more_revisions_than_there_can_be_are_refused() -> None:
    """An aggregator has no room for a version for each person."""
    chain = [FIRST]
    for number in range(2, MOST + 2):
        chain.insert(0, revision(number, chain[0]))

    with pytest.raises(TransportError, match="cannot be read"):
        survey_for(Shown(tuple(chain)), link_to(FIRST))
    assert survey_for(Shown(tuple(chain[:MOST])), link_to(chain[MOST - 1])) == chain[MOST - 1]


def test_named_revision_is_read_as_strictly_as_any() -> None:
    """The right digest does not make a survey of what is none."""
    newest, forged = revision(2), {**FIRST.document, "extra": 1}
    reply = canonical.dump(
        {"format": "sottovoce-revisions/1", "revisions": [newest.document, forged], "survey": "vector"}
    )
    named = Link("https://a.example", "vector", sha256(canonical.dump(forged)).hexdigest()[:32])

    with pytest.raises(SpecError, match="/extra"):
        survey_for(Shown((newest,), reply=reply), named)


def test_contradictions_are_told_one_by_one() -> None:
    """Which two, by the beginning of their digests."""
    a, b = SECOND.digest[:12], OTHER_SECOND.digest[:12]

    assert contradictions(published(Shown((THIRD, SECOND, FIRST)), "vector")) == []
    assert contradictions(published(Shown((SECOND, FIRST), newest=OTHER_SECOND), "vector")) == [
        f"{b} and {a} are different versions, and both are called revision 2",
        f"{b} and {a} are different versions, and both replace {FIRST.digest[:12]}",
    ]


def status(**changes: object) -> dict[str, object]:
    return {
        "format": "sottovoce-status/1",
        "survey": "vector",
        "closed_on": None,
        "revisions": [
            {"digest": SECOND.digest, "revision": 2, "retired": False, "waves": ["open", "early"]},
            {"digest": FIRST.digest, "revision": 1, "retired": True, "waves": ["closed", "open"]},
        ],
        **changes,
    }


def test_standing_is_of_one_revision_and_wave() -> None:
    """What is over is closed, also for a retired revision."""
    found = [standing(status(), each, wave) for each in (SECOND, FIRST) for wave in (0, 1)]

    assert [each and each.state for each in found] == ["open", "early", "closed", "retired"]
    assert {each and each.newest for each in found} == {2}
    assert standing(status(), THIRD, 0) is None
    closed = standing(status(closed_on="2026-05-12"), SECOND, 0)
    assert str(closed.closed_on) == "2026-05-12"


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "sottovoce-status/2"}, {"survey": "other"}, {"closed_on": "soon"}, {"closed_on": 5},
        {"revisions": []}, {"revisions": None}, {"revisions": [{}]}, {"revisions": 7},
        {"revisions": [{"digest": SECOND.digest, "revision": 2, "retired": False, "waves": []}]},
        {"revisions": [{"digest": SECOND.digest, "revision": 2, "retired": False, "waves": ["ajar"]}]},
        {"revisions": [{"digest": SECOND.digest, "revision": 2, "retired": 0, "waves": ["open"]}]},
        {"revisions": [{"digest": SECOND.digest, "revision": None, "retired": False, "waves": ["open"]}]},
    ],
)  # fmt: skip
def test_status_that_cannot_be_read_is_refused(changes: dict[str, object]) -> None:
    """It says nothing, and is not taken for a yes or a no."""
    with pytest.raises(TransportError, match="cannot be read"):
        standing(status(**changes), SECOND, 0)
