"""The parts of the respondents' page, compressed once: the same for everybody, and never changed while served."""

import gzip
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import brotli


class PagePart(Protocol):
    """A part of the respondents' page."""

    @property
    def body(self) -> bytes:
        """Its bytes."""

    @property
    def content_type(self) -> str:
        """Its media type."""

    @property
    def style(self) -> str:
        """How a content security policy names the style that stands in it; empty if none does."""

    @property
    def folder(self) -> str:
        """The folder that it is in, named by the digest of all that is; empty if it is in none."""


class Packed(NamedTuple):
    """One part, and its body in each content coding, the smallest first."""

    asset: PagePart
    codings: dict[str, bytes]


class PackedAssets:
    """
    Every part by its name.

    Brotli at its best takes half a second for all of them, so a thread of its own does it from the start on; whoever
    asks for a part before it is ready waits for that part.
    """

    def __init__(self, assets: Mapping[str, PagePart]) -> None:
        with_page_first = sorted(assets, key=lambda name: not name.endswith(".html"))
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pack")
        self._packed: dict[str, Future[Packed]] = {name: pool.submit(_pack, assets[name]) for name in with_page_first}
        pool.shutdown(wait=False)

    def get(self, name: str) -> Packed | None:
        """The part with this name; None if there is none."""
        found = self._packed.get(name)
        return None if found is None else found.result()


def _pack(asset: PagePart) -> Packed:
    # Without a time, so that the same page is the same bytes after every start.
    codings = {"br": brotli.compress(asset.body, quality=11), "gzip": gzip.compress(asset.body, mtime=0)}
    return Packed(asset, codings)
