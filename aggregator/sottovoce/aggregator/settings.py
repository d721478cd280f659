"""Settings of the aggregator, each with default, environment variable and help text."""

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from sottovoce.aggregator.institution import Institution, read_institution
from sottovoce.shared.blind_signatures import SIZES
from sottovoce.shared.errors import SurveyError

PREFIX = "SOTTOVOCE_"
SIGN_IN_METHODS = ("key", "oidc", "passkey")
FORMER_NAMES = {"sign_in_methods": "DOORS", "ledger_anchor_dir": "LEDGER_HEADS"}
"""Names of settings before 0.4, read with a warning until 0.5."""

_SITE = re.compile(r"https?://[^/?#@\s]+/?")
_HOST = re.compile(r"\.?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:]+\]")


class SettingError(SurveyError):
    """Error in the value of a setting; the message names the setting only."""

    code = "setting_invalid"


def _setting(default: Any, help_text: str) -> Any:  # noqa: ANN401 - the type is the field's
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class Settings:
    """Settings for operators; each is read from the environment variable ``SOTTOVOCE_<NAME>``."""

    data: Path = _setting(Path("sottovoce-data"), "folder of the database")
    database: str = _setting("", "address of the database, if it is not embedded: `postgresql://...`")
    host: str = _setting("127.0.0.1", "address to listen on")
    port: int = _setting(8000, "port to listen on")
    public_url: str = _setting("", "public address for respondents, if the server is behind a proxy")
    trusted_hosts: str = _setting(
        "",
        "host names that requests may be for, such as `a.example .b.example`; not for reports and `/metrics`; empty: "
        "for staff and their programs only the name in the public URL, and addresses",
    )
    threads: int = _setting(4, "threads that run the application")
    body_seconds: int = _setting(10, "seconds within which a request's body must arrive")
    max_requests: int = _setting(
        256, "requests other than reports that wait for a thread; further ones are answered with 503 and Retry-After"
    )
    max_body_kib: int = _setting(
        65_536, "KiB of requests in flight, 8 for each and its body (more: 503), beside 16 MiB of unfinished heads"
    )
    analysis_seconds: int = _setting(
        600, "seconds that one analysis may take in a process of its own; of a visitor's file at most 60"
    )
    analysis_memory: int = _setting(
        1024, "MiB of memory that one analysis may take, and at most 3/4 of its container's; 0 for no limit"
    )
    public_analysis: int = _setting(
        0, "1 lets visitors without an account analyze a file: up to 10 MB, one for each, four at once, no formulas"
    )
    drain_seconds: int = _setting(
        0, "seconds for which a node serves on after SIGTERM or SIGHUP, while `/readyz` fails, so that proxies leave it"
    )

    rate_limit: int = _setting(
        6000, "reports, logins and other writes that one network may send in a minute; 0 for no limit"
    )
    proxy_hops: int = _setting(0, "number of trusted proxies that set X-Forwarded-For; used for the rate limit only")
    sign_in_methods: str = _setting(
        "key", "sign-in methods of staff, in addition to one-time links: some of `key oidc passkey`"
    )
    oidc_issuer: str = _setting("", "issuer of the institution's OpenID Connect provider, as in its metadata")
    oidc_client: str = _setting("", "client id from the institution's provider")
    oidc_secret: str = _setting("", "client secret from the provider; empty for a public client")
    blind_keys_file: str = _setting(
        "",
        "file of private keys for surveys with `access: blind`: outside data and backups, the same on all nodes; each "
        "node writes `NAME.marks` beside it, by which it detects that an old copy of the database was restored",
    )
    blind_key_bits: int = _setting(2048, "size in bits of new keys for such surveys: 2048 or 3072")
    ledger_anchor_dir: str = _setting(
        "", "folder for the latest hash of each privacy budget, outside data and backups; for curators only"
    )

    institution: str = _setting(
        "",
        "JSON file about the institution, until the studio replaces it: name, imprint, contact, accent (colour), logo",
    )

    @property
    def shown_institution(self) -> Institution:
        """Institution for the studio's pages; raises SettingError if its file is unreadable or invalid."""
        try:
            return read_institution(Path(self.institution)) if self.institution else Institution()
        except ValueError as error:
            raise SettingError(f"the file that the setting {PREFIX}INSTITUTION names: {error}") from None

    @property
    def heads(self) -> Path | None:
        """Folder with the heads of privacy budgets; None if it is not set."""
        return Path(self.ledger_anchor_dir) if self.ledger_anchor_dir else None

    def __post_init__(self) -> None:
        """Validate at start what would otherwise fail at every request."""
        _ = self.allowed_sign_in_methods, self.hosts, self.shown_institution
        if self.blind_key_bits not in SIZES:
            raise SettingError(f"the setting {PREFIX}BLIND_KEY_BITS must be {' or '.join(map(str, SIZES))}")
        if self.public_url and not _SITE.fullmatch(self.public_url):
            raise SettingError(
                f"the setting {PREFIX}PUBLIC_URL must be like https://survey.example.org, without a path: pages and "
                "programs ask at the root of the name"
            )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Read the settings from the environment; ``SOTTOVOCE_<NAME>_FILE`` names a file with the value, for secrets.

        Raises SettingError if a value is invalid, or a file cannot be read.
        """
        found: dict[str, Any] = {}
        for item in fields(cls):
            text = _text(environment, PREFIX + item.name.upper())
            if text is None and item.name in FORMER_NAMES:
                text = _former(environment, item.name)
            if text is not None:
                found[item.name] = _convert(item.name, type(item.default), text)
        return cls(**found)

    @property
    def hosts(self) -> list[str]:
        """Names that the Host header may have; ".name" stands for its subdomains too. The public URL's unless set.

        Raises SettingError if it is not a list of host names.
        """
        names = self.trusted_hosts.split()
        if not all(_HOST.fullmatch(name) for name in names):
            raise SettingError(f"the setting {PREFIX}TRUSTED_HOSTS must list names such as a.example, without a port")
        own = urlsplit(self.public_url).hostname or ""
        return names or [f"[{own}]" if ":" in own else own] * bool(own)

    def to_environment(self) -> dict[str, str]:
        """Return environment variables that ``from_environment`` reads back; worker processes get their settings so."""
        return {PREFIX + item.name.upper(): str(getattr(self, item.name)) for item in fields(self)}

    @property
    def allowed_sign_in_methods(self) -> frozenset[str]:
        """Sign-in methods of staff, in addition to one-time links; raises SettingError for an unknown one."""
        named = frozenset(self.sign_in_methods.split())
        if not named <= set(SIGN_IN_METHODS):
            raise SettingError(f"the setting {PREFIX}SIGN_IN_METHODS must list some of: {' '.join(SIGN_IN_METHODS)}")
        return named

    @property
    def url(self) -> str:
        """Public URL of the aggregator, without a trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")

    def link(self, survey: str, digest: str, wave: int = 0) -> str:
        """Return the respondents' link to a wave; the first 32 digits of its digest pin the exact survey.

        Waves count from 0; wave 0 is left out of the link.
        """
        return f"{self.url}/s/{survey}#d={digest[:32]}{f'&w={wave}' if wave else ''}"

    @cached_property
    def secure(self) -> bool:
        """Return True if the public URL is https."""
        return urlsplit(self.url).scheme == "https"


def describe() -> list[tuple[str, str, str]]:
    """List every setting as (variable, default, help)."""
    return [
        (PREFIX + item.name.upper(), "" if item.default is MISSING else str(item.default), item.metadata["help"])
        for item in fields(Settings)
    ]


def _former(environment: Mapping[str, str], name: str) -> str | None:
    former = PREFIX + FORMER_NAMES[name]
    text = _text(environment, former)
    if text is not None:
        message = f"the setting {former} is now {PREFIX}{name.upper()}; version 0.5 will not read its former name"
        warnings.warn(message, FutureWarning, stacklevel=3)
    return text


def _text(environment: Mapping[str, str], name: str) -> str | None:
    file = environment.get(f"{name}_FILE")
    if file is None:
        return environment.get(name)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError:
        raise SettingError(f'the file "{file}" that {name}_FILE names cannot be read') from None


def _convert(name: str, kind: type, text: str) -> Any:  # noqa: ANN401 - the type is the field's
    try:
        return kind(text)
    except ValueError:
        raise SettingError(f"the setting {PREFIX}{name.upper()} must be a whole number") from None
