"""What people are told about the odds is what the channel does."""

import re

import pytest
from sottovoce.client.words import SENTENCES, odds_in_words
from sottovoce.shared.mechanisms import MECHANISMS

from tests.documents import number, one_of, parsed, question, some_of, vector

COIN = {"a": "3/4", "b": "1/4"}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (question({"name": "coin_flip"}), "true answer is yes, 75 send yes; .* true answer is no, 25 also"),
        (question({"name": "warner", "truth": "2/3"}), "about 67 send yes"),
        (question({"name": "binary_rr", "a": "999/1000", "b": "1/1000"}), "about 99 send yes; .* about 1 also"),
        (one_of(4, {"name": "kary_rr", "odds": "3"}), "50 send it and about 17 send each of the others"),
        (one_of(5, {"name": "subset_selection", "odds": "3", "size": 2}), "2 of the 5 options .* about 67 send"),
        (some_of(4, {"name": "sampled_option", **COIN}), "drawn.* chose that option, 75 send yes; .* 25 also"),
        (some_of(4, {"name": "bitwise_rr", **COIN}, max_choices=1), "who chose an option, 75 send yes"),
        (number(0, 9, 1, {"name": "rounding_rr", **COIN}), "largest number, 75 send high; .* smallest, 25 also"),
        (number(0, 9, 1, {"epsilon": "1.4"}), "One of 5 marks is sent, .* at most about 50"),
        (number(0, 9, 1, {"name": "square_wave", "odds": "3", "bins": 10, "width": 1}), "12 bins .* 50 send one"),
        (number(0, 9, 1, {"name": "geometric", "ratio": "1/3"}), "50 draw no noise"),
        (vector(3, 0, 9, 1, {"name": "sampled_coordinate", **COIN}), "One of the 3 numbers .* 75 send high"),
    ],
)
def test_odds_in_words_follow_from_the_channel(document, words):
    """Counts of 100 people, and the epsilon rounded up."""
    said = odds_in_words(parsed(document))

    assert re.search(words, said)
    assert re.search(r"Epsilon \d+\.\d\d\.$", said)


def test_every_mechanism_has_its_words():
    """A mechanism that cannot be explained is not shipped."""
    assert set(SENTENCES) == set(MECHANISMS)


def test_public_answer_is_called_what_it_is():
    """The opposite of a mechanism, said so."""
    document = question({})
    del document["mechanism"]

    assert odds_in_words(parsed({**document, "public": True})) == "This answer is sent as you give it."
