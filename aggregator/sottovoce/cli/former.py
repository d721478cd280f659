"""Names of commands before 0.4, each of which still works until 0.5 with a note."""

import click

UNTIL = "0.5"

FORMER = {
    "init": "new",
    "import-xlsform": "new --xlsform",
    "privacy": "survey privacy",
    "letter": "survey letter",
    "simulate": "survey simulate",
    "qr": "survey qr",
    "page": "survey page",
    "export": "results export",
    "estimate": "results estimate",
    "crosstab": "results crosstab",
    "compare": "results compare",
    "pairs": "results associations",
    "regress": "results regress",
    "weights": "results weights",
    "token hold-after-restore": "link hold",
    "token reissue-after-restore": "link reissue",
    "token": "link",
    "ledger": "device",
    "verify": "device verify",
    "account": "staff",
    "access list": "staff roles",
    "access": "staff",
    "invite": "staff invite",
    "key": "staff key",
    "researcher revoke": "staff key revoke --all",
    "researcher": "staff",
    "journal": "db journal",
    "doctor": "db doctor",
    "backup": "db backup",
    "restore": "db restore",
    "migrate": "db migrate",
    "copy": "db copy",
    "purge": "db purge",
    "reidentify": "curator reidentify",
}
"""Former words -> the words that take their place; two words are looked for before one."""


def current_words(words: list[str]) -> list[str]:
    """Return the words with a former name replaced, and print a note of one line if one was."""
    for count in (2, 1):
        former = " ".join(words[:count])
        if former in FORMER:
            now = FORMER[former]
            click.echo(
                f'Note: "sottovoce {former}" is now "sottovoce {now}"; the former name works until {UNTIL}.', err=True
            )
            return [*now.split(), *words[count:]]
    return words
