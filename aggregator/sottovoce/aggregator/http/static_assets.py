"""Compress the assets of the respondents' page once at the start, since they do not change while served."""

import gzip
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import brotli


class PagePart(Protocol):
    """Asset of the respondents' page."""

    @property
    def body(self) -> bytes:
        """Content of the asset, uncompressed."""

    @property
    def content_type(self) -> str:
        """Media type of the asset."""

    @property
    def style(self) -> str:
        """CSP source of its inline style, a hash; empty if it has none."""

    @property
    def folder(self) -> str:
        """Folder of its URL, named by the digest of the folder's contents; empty if it is in none."""

    @property
    def policy(self) -> str:
        """Whole CSP of a page that any site may hold in a frame; empty for others."""


class Packed(NamedTuple):
    """Asset with its body in each content coding, smallest first."""

    asset: PagePart
    codings: dict[str, bytes]


class PackedAssets:
    """Compressed assets by name.

    Brotli at its best quality takes half a second for all assets, so a thread compresses them from the start on.
    """

    def __init__(self, assets: Mapping[str, PagePart]) -> None:
        with_page_first = sorted(assets, key=lambda name: not name.endswith(".html"))
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pack")
        self._packed: dict[str, Future[Packed]] = {name: pool.submit(_pack, assets[name]) for name in with_page_first}
        pool.shutdown(wait=False)

    def get(self, name: str) -> Packed | None:
        """Return the asset with this name, or None; waits until it is compressed."""
        future = self._packed.get(name)
        return None if future is None else future.result()


def _pack(asset: PagePart) -> Packed:
    # gzip without a time, so that the bytes, and their digests, are equal after every start.
    return Packed(asset, {"br": brotli.compress(asset.body, quality=11), "gzip": gzip.compress(asset.body, mtime=0)})
