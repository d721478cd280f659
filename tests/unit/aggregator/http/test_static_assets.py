import gzip

import brotli
from sottovoce.aggregator.http.static_assets import PackedAssets
from sottovoce.client.page import PageFile

from tests.page_files import page_files

ASSETS = {
    "a.js": PageFile(b"const one = 1;\n" * 100, "text/javascript"),
    "b.html": PageFile(b"<p>" * 100, "text/html", "'x'"),
}


def test_every_coding_gives_the_same_bytes() -> None:
    """What is checked by its digest is what a browser decodes."""
    packed = PackedAssets(ASSETS)
    for name, asset in ASSETS.items():
        found = packed.get(name)
        assert found.asset == asset
        assert brotli.decompress(found.codings["br"]) == asset.body
        assert gzip.decompress(found.codings["gzip"]) == asset.body


def test_same_page_is_the_same_bytes_after_every_start() -> None:
    """No time stands in them."""
    name = "catalogues/en.json"
    asset = {name: page_files()[name]}
    first, second = PackedAssets(asset).get(name), PackedAssets(asset).get(name)
    assert first == second


def test_smallest_coding_comes_first() -> None:
    """Whoever can read both is sent Brotli."""
    found = PackedAssets(ASSETS).get("a.js")
    assert list(found.codings) == ["br", "gzip"]
    assert PackedAssets(ASSETS).get("c.js") is None


def test_assets_are_made_once_and_only_when_one_is_asked_for() -> None:
    """A node that starts need not make them."""
    made = []
    packed = PackedAssets(lambda: made.append(1) or ASSETS)  # type: ignore[func-returns-value]
    assert not made
    assert packed.get("c.js") is None
    assert packed.get("a.js") == PackedAssets(ASSETS).get("a.js")
    assert made == [1]
