"""Read labels and hints of an XLSForm by language: ``label``, ``label::English (en)``, ``label::Français``."""

import re
from collections.abc import Mapping

from sottovoce.aggregator.authoring.workbook import LeftOut, Sheet, SheetRow
from sottovoce.shared.checks import LANGUAGE

_NAMES = {
    "english": "en",
    "arabic": "ar",
    "العربية": "ar",
    "german": "de",
    "deutsch": "de",
    "spanish": "es",
    "español": "es",
    "french": "fr",
    "français": "fr",
    "hindi": "hi",
    "हिन्दी": "hi",
    "italian": "it",
    "italiano": "it",
    "portuguese": "pt",
    "português": "pt",
    "chinese": "zh-Hans",
    "中文": "zh-Hans",
    "swahili": "sw",
    "kiswahili": "sw",
}
"""Tags of common languages, for headings that have a language name without a tag."""

_TAGGED = re.compile(r".*\(([^()]+)\)\s*")


class Texts:
    """Columns of texts in an XLSForm, with their languages."""

    def __init__(self, sheets: Mapping[str, Sheet], settings: SheetRow, left: list[LeftOut]) -> None:
        """Find the languages of all columns, and the default language.

        Args:
            sheets: rows by name of the sheet.
            settings: the form's settings; their ``default_language`` is used if texts in it exist.
            left: list of notes, to which columns in unknown languages are added.
        """
        headings = {heading: row.sheet for sheet in sheets.values() for row in sheet for heading in row.cells}
        self._left = left
        self._tags = {heading: tag for heading in headings if (tag := tag_of(heading.partition("::")[2]))}
        spoken = [tag for heading, tag in self._tags.items() if heading.startswith("label")]
        named = tag_of(settings.get("default_language"))
        plain = "label" in headings
        self.default = named if named in spoken or (named and plain) else "en" if plain or not spoken else spoken[0]
        for heading, sheet in headings.items():
            if heading.startswith(("label::", "hint::")) and heading not in self._tags:
                what = "the language is not known; write its tag in brackets, such as Luganda (lg)"
                left.append(LeftOut(sheet, 1, heading.partition("::")[0], what))

    def of(self, row: SheetRow, column: str) -> dict[str, str]:
        """Return a row's text by language; a missing text in the default language is replaced by another one."""
        found = {tag: row.cells[heading] for heading, tag in self._tags.items() if self._is(heading, column, row)}
        if column in row.cells:
            found.setdefault(self.default, row.cells[column])
        if found and self.default not in found:
            self._left.append(
                row.left_out("no text in the form's own language; another one stands in its place", column)
            )
            found[self.default] = next(iter(found.values()))
        return found

    @staticmethod
    def _is(heading: str, column: str, row: SheetRow) -> bool:
        return heading.startswith(f"{column}::") and heading in row.cells


def tag_of(language: str) -> str:
    """Return the tag for a language in a heading: "French (fr)", "fr" or "Français"; "" if it is unknown."""
    tagged = _TAGGED.fullmatch(language)
    tag = (tagged[1] if tagged else language).strip()
    if LANGUAGE.fullmatch(tag):
        return tag
    return _NAMES.get(language.strip().lower(), "")
