"""Make slugs, short names for links, conditions and files, from the researcher's texts."""

import re
import unicodedata
from collections.abc import Collection

LONGEST = 40
LONGEST_QUESTION = 24
"""Stata takes 32 letters, of which names of value labels and of channel columns need a part."""

_STOP_WORDS = {
    "en": "a ago an and any are as at be been by did do does during ever for from had has have how i if in is "
    "it last many me month months much my of often on or our past s since t that the there they this "
    "times to twelve usually was we were what when where which who will with would year years you your",
    "de": "als am an auf aus bei bereits das dem den der des die dies diese diesem diesen dieser ein eine einem "
    "einen einer er es fur haben hat ich ihnen ihr ihre ihrem ihren ihrer im in ist jahr jahre jahren je "
    "jemals letzte letzten letzter mal mit monat monate monaten oder schon seit sich sie sind so um und "
    "vom von vor war waren wie wir wurde zu zum zur zwolf",
    "es": "al algun alguna alguno ano anos como con cual cuando cuantas cuanto cuantos de del desde doce donde "
    "durante el en es esta este ha han has la las lo los mas mes meses o para por que se sido su sus te "
    "tu tus ultimas ultimo ultimos un una usted vez y",
    "fr": "a ai as au aux avec avez ce ces cette comment cours d dans de deja depuis dernier dernieres derniers "
    "des douze du elle en est et ete etes fois il ils j jamais je l la le les leur lors ma mois mon n ou "
    "par pour qu quand que quel quelle quelles quels qui s sa se ses son sur t ta ton tu un une vos votre "
    "vous",
    "pt": "a alguma ano anos ao aos as com como da das de do dos doze durante e ela ele em esta este foi ja mes "
    "meses na nas no nos num numa o os ou para pela pelo por qual quando quantas quantos que se seu seus "
    "sua suas tem teve ultimas ultimo ultimos um uma vez voce",
}
"""
Frequent words that tell nothing about a question, without accents, as a slug has them.

A slug drops all letters of Arabic, Hindi and Chinese, so the studio's other three languages need no list.
"""

_RESERVED = (
    "all and break by byte double else eq false float for function ge gt if in inf int le long lt na nan ne next not "
    "null or repeat return revision strl to true using wave while with"
)
"""Names that SPSS, Stata, R or the files of reports use themselves."""


def short_name(text: str, otherwise: str, joiner: str = "_") -> str:
    """Make a slug from the Latin letters and digits of a text, in lower case; ``otherwise`` if it has none."""
    return joiner.join(_words(text))[:LONGEST].strip(joiner) or otherwise


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text[:400]).encode("ascii", "ignore").decode().lower()
    return re.findall(r"[a-z0-9]+", plain)


def question_name(text: str, otherwise: str, language: str) -> str:
    """Make a question's name of at most 24 characters that SPSS, Stata and R accept; ``otherwise`` if there is none.

    The most frequent words of the text's language are left out where others remain.
    """
    every = _words(text)
    frequent = _STOP_WORDS.get(language, _STOP_WORDS.get(language.partition("-")[0], "")).split()
    telling = [word for word in every if word not in frequent] or every
    name = telling[0][:LONGEST_QUESTION] if telling else otherwise
    for word in telling[1:]:
        # A later, shorter word would read as if it followed directly, so the name ends at the first that is too long.
        if len(name) + 1 + len(word) > LONGEST_QUESTION:
            break
        name += f"_{word}"
    reserved = name in _RESERVED.split() or re.fullmatch("str[0-9]+", name)
    return name if name[:1].isalpha() and not reserved else f"q_{name}"[:LONGEST_QUESTION]


def is_given(name: str) -> bool:
    """Return whether a question's name was chosen, and is not the page's default of ``q`` and a number."""
    return not re.fullmatch(r"q[0-9]+", name, re.ASCII)


def free_name(wanted: str, taken: Collection[str], joiner: str = "_", longest: int | None = None) -> str:
    """Return the name if it is free, else with the first number from 2 that makes it free, within ``longest``."""
    if wanted not in taken:
        return wanted
    ends = (f"{joiner}{number}" for number in range(2, len(taken) + 3))
    found = (f"{wanted if longest is None else wanted[: longest - len(end)]}{end}" for end in ends)
    return next(name for name in found if name not in taken)
