"""Write the calendar of a month, in a language."""

from calendar import Calendar
from datetime import date

from babel import Locale
from babel.dates import format_date, format_skeleton
from sottovoce.aggregator.i18n.translator import LOCALES


def month_of(day: date, language: str) -> tuple[str, str]:
    """Return month and year in words, and an HTML table of the days in weeks from Monday."""
    locale = Locale.parse(LOCALES.get(language, language))
    weeks = Calendar().monthdatescalendar(day.year, day.month)
    heads = "".join(f'<th scope="col">{format_date(each, "ccccc", locale)}</th>' for each in weeks[0])
    rows = "".join(
        "<tr>" + "".join(f"<td>{each.day if each.month == day.month else ''}</td>" for each in week) + "</tr>"
        for week in weeks
    )
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return format_skeleton("yMMMM", day, locale=locale), table
