"""Languages of the pages, and the one that a reader asks for."""

import re
from collections.abc import Iterator

LANGUAGES = ("en", "ar", "de", "es", "fr", "hi", "pt", "zh-Hans")
"""The languages of the sentences, the first for whoever reads none of them; a test holds them to the form's."""


LANGUAGE_COOKIE = "sottovoce-language"
"""What remembers the language that a researcher has chosen."""


def language_of(accept_language: str) -> str:
    """The reader's first language among those of the pages."""
    by_name = {tag.partition("-")[0].lower(): tag for tag in LANGUAGES}
    wanted = sorted(accept_weights(accept_language), key=lambda wish: -wish[1])
    known = (by_name.get(tag.partition("-")[0]) for tag, weight in wanted if weight > 0)
    return next((tag for tag in known if tag), LANGUAGES[0])


def chosen_language(cookies: str) -> str:
    """The language that a researcher has chosen, from the header with the cookies; "" if none was."""
    found = re.search(rf"(?:^|; ?){LANGUAGE_COOKIE}=([A-Za-z-]+)(?:;|$)", cookies)
    return found[1] if found and found[1] in LANGUAGES else ""


def accept_weights(header: str) -> Iterator[tuple[str, float]]:
    """What a header of HTTP's kind ``a, b;q=0.5`` names, in lower case, with its weight; 0 for one without sense."""
    for part in header.lower().split(","):
        name, _, parameters = part.partition(";")
        weight = parameters.replace(" ", "").partition("q=")[2].partition(";")[0]
        try:
            yield name.strip(), float(weight or "1")
        except ValueError:
            yield name.strip(), 0.0
