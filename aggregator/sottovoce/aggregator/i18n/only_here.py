"""Warn that people elsewhere cannot open a link."""

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.private_address import private_host


def only_here(link: str, words: Words) -> str:
    """Return the warning for a link to this computer or a private network, "" for a public link."""
    host = private_host(link)
    return words.translate("invite_only_here", host=host) if host else ""
