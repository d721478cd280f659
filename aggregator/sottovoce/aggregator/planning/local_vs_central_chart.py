"""The price of trusting nobody as an SVG: half-width over the number of people, both on logarithmic scales."""

import math

from sottovoce.aggregator.planning.local_vs_central import Price, PriceRow

WIDTH, HEIGHT = 720, 440
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 20, 250, 50
COLOURS = {"local": "#b3441e", "shuffled": "#8a6d00", "central": "#2a6fb0", "none": "#555555"}
_DASHES = ("", "6 3", "2 3", "9 3 2 3", "1 4")


def price_svg(price: Price) -> str:
    """A line for each row, its name at the right, with a description for those who listen."""
    least = math.floor(math.log10(min(width for row in price.rows for width in row.half_widths)))
    most = math.ceil(math.log10(max(width for row in price.rows for width in row.half_widths)))
    lines = [_line(row, price, (least, most), place) for place, row in enumerate(price.rows)]
    title = f"Half-width at epsilon {price.epsilon:g} by number of people: local, shuffled, central, no noise"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-size="11">'
    return "\n".join([head, f"<title>{title}</title>", *_axes(price, least, most), *lines, "</svg>", ""])


def _axes(price: Price, least: int, most: int) -> list[str]:
    found = []
    for n in price.people:
        x = _x(price, n)
        found.append(f'<path d="M{x:.1f} {_TOP}V{HEIGHT - _BOTTOM}" stroke="#ddd"/>')
        found.append(f'<text x="{x:.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">{n:,}</text>')
    for power in range(least, most + 1):
        y = _y(10.0**power, (least, most))
        found.append(f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" stroke="#ddd"/>')
        found.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    return [*found, f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">people</text>']


def _line(row: PriceRow, price: Price, powers: tuple[int, int], place: int) -> str:
    points = " ".join(
        f"{_x(price, n):.1f},{_y(width, powers):.1f}" for n, width in zip(price.people, row.half_widths, strict=True)
    )
    colour, dashes = COLOURS[row.trust], _DASHES[place % len(_DASHES)]
    y = _TOP + 14 + 18 * place
    edge = WIDTH - _RIGHT + 12
    stroke = f'fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dashes}"'
    return (
        f'<polyline points="{points}" {stroke}/><path d="M{edge} {y - 4}h24" {stroke}/>'
        f'<text x="{edge + 30}" y="{y}" fill="{colour}">{row.trust}: {row.name} ({row.subject})</text>'
    )


def _x(price: Price, n: int) -> float:
    low, high = math.log10(price.people[0]), math.log10(price.people[-1])
    return _LEFT + (math.log10(n) - low) / (high - low) * (WIDTH - _LEFT - _RIGHT)


def _y(width: float, powers: tuple[int, int]) -> float:
    share = (math.log10(width) - powers[0]) / (powers[1] - powers[0])
    return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)
