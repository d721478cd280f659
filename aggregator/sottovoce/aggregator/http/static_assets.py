"""Make the respondents' page when it is first asked for, and compress each of its assets once.

A start without them is a third shorter, and they do not change while served.
"""

import gzip
from collections.abc import Callable, Mapping
from threading import Lock
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


Assets = Mapping[str, PagePart] | Callable[[], Mapping[str, PagePart]]
"""Assets by name, or the function that makes them."""


class Packed(NamedTuple):
    """Asset with its body in each content coding, smallest first."""

    asset: PagePart
    codings: dict[str, bytes]


class PackedAssets:
    """Compressed assets by name, each compressed when it is first asked for.

    Brotli at its best quality takes more than a second for all assets, of which visitors need one language.
    """

    def __init__(self, assets: Assets) -> None:
        self._assets, self._packed, self._lock = assets, dict[str, Packed](), Lock()

    def get(self, name: str) -> Packed | None:
        """Return the asset with this name, or None."""
        if name not in self._packed:
            with self._lock:
                if not isinstance(self._assets, Mapping):
                    self._assets = self._assets()
                if name in self._assets and name not in self._packed:
                    self._packed[name] = _pack(self._assets[name])
        return self._packed.get(name)


def _pack(asset: PagePart) -> Packed:
    # gzip without a time, so that the bytes, and their digests, are equal after every start.
    return Packed(asset, {"br": brotli.compress(asset.body, quality=11), "gzip": gzip.compress(asset.body, mtime=0)})
