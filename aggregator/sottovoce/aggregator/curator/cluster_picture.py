"""Centres and noisy sizes as an SVG: the first two coordinates, in steps."""

from typing import Any

SIDE = 480
_EDGE = 30


def cluster_svg(values: dict[str, Any], reach: int) -> str:
    """
    Circles at the centres, their area as the noisy size; sizes below 1 are crosses.

    Args:
        values: of a release of ``cluster``.
        reach: the largest coordinate of the domain, in steps.
    """
    sizes = [max(size, 0) for size in values["noisy_sizes"]]
    largest = max([*sizes, 1])
    shapes = [_shape(centre, size, largest, reach) for centre, size in zip(values["centres"], sizes, strict=True)]
    frame = f'<rect x="{_EDGE}" y="{_EDGE}" width="{SIDE - 2 * _EDGE}" height="{SIDE - 2 * _EDGE}" class="frame"/>'
    style = "<style>.frame{fill:none;stroke:#888}circle{fill:#2a6fb0;fill-opacity:.5}text{font:11px sans-serif}</style>"
    title = f"<title>{len(sizes)} centres, the area of each circle as its noisy size</title>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}" role="img">'
    return "\n".join([head, title, style, frame, *shapes, "</svg>", ""])


def _shape(centre: list[int], size: int, largest: int, reach: int) -> str:
    x, upwards = (_place(centre[axis] if axis < len(centre) else 0, reach) for axis in (0, 1))
    y = SIDE - upwards
    label = f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{size}</text>'
    if size < 1:
        return f'<path d="M{x - 4:.1f} {y:.1f}h8m-4-4v8" stroke="#b00"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{40 * (size / largest) ** 0.5:.1f}"/>{label}'


def _place(coordinate: int, reach: int) -> float:
    return _EDGE + (coordinate + reach) / (2 * reach) * (SIDE - 2 * _EDGE)
