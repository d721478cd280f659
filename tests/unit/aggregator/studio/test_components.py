import re
from importlib.resources import files
from pathlib import Path

STATIC = files("sottovoce.aggregator.studio").joinpath("static")
STYLES = [STATIC.joinpath(name).read_text(encoding="utf-8") for name in ("studio.css", "design.css")]
PAGE = (Path(__file__).parents[4] / "docs" / "components.md").read_text(encoding="utf-8")


def test_every_token_has_its_line_and_both_themes() -> None:
    light, dark = (set(re.findall(r"(--[\w-]+):", block)) for block in re.findall(r":root \{(.*?)\}", STYLES[0], re.S))

    light_only = {"--text"}
    assert light - light_only == dark
    assert light == set(re.findall(r"`(--[\w-]+)`", PAGE))
    assert light == set(re.findall(r"var\((--[\w-]+)\)", "".join(STYLES)))


def test_every_part_that_is_named_has_a_rule() -> None:
    named = set(re.findall(r"`\.([\w-]+)`", PAGE))
    assert named <= set(re.findall(r"\.([a-z][\w-]*)", "".join(STYLES)))
