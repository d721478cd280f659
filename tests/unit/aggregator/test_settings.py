from pathlib import Path

import pytest
from sottovoce.aggregator.settings import SettingError, Settings, describe

ROOT = Path(__file__).parents[3]


def test_settings_survive_the_way_to_a_worker() -> None:
    settings = Settings(data=Path("/tmp/x"), port=9, public_url="https://x.example", threads=2)  # noqa: S108

    assert Settings.from_environment(settings.to_environment()) == settings


def test_setting_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("9\n")

    assert Settings.from_environment({"SOTTOVOCE_PORT_FILE": str(tmp_path / "port")}).port == 9


def test_wrong_setting_is_named_and_not_repeated() -> None:
    with pytest.raises(SettingError, match="SOTTOVOCE_PORT") as refused:
        Settings.from_environment({"SOTTOVOCE_PORT": "sentinel"})
    assert "sentinel" not in str(refused.value)


def test_every_setting_is_documented() -> None:
    """The table in the deploy folder's README has each variable, its default and its help, and nothing else."""
    page = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `SOTTOVOCE_")]

    assert rows == [
        f"| `{name}` | {f'`{default}`' if default else ''} | {help_text} |" for name, default, help_text in describe()
    ]
    assert len(describe()) <= 25


def test_readme_of_a_folder_fits_on_a_screen() -> None:
    """At most 40 lines; docs/README.md is the list of all documents, and no description of a folder."""
    lengths = {page.parent.name: len(page.read_text("utf-8").splitlines()) for page in ROOT.glob("*/README.md")}
    assert [name for name, length in lengths.items() if length > 40 and name != "docs"] == []


@pytest.mark.parametrize("names", ["a.example:8000", "https://a.example", "*.example", "a_b"])
def test_trusted_host_is_a_name_alone(names: str) -> None:
    """A port or a wildcard would never match, and nobody would be let in."""
    with pytest.raises(SettingError, match="SOTTOVOCE_TRUSTED_HOSTS"):
        Settings(trusted_hosts=names)


@pytest.mark.parametrize("address", ["https://a.example/surveys", "a.example", "https://", "https://a.example/?b=1"])
def test_public_address_is_the_root_of_a_name(address: str) -> None:
    """Under a path no link, asset or report would arrive, and without a scheme no link is one."""
    with pytest.raises(SettingError, match="SOTTOVOCE_PUBLIC_URL") as refused:
        Settings(public_url=address)
    assert address not in str(refused.value).replace("https://survey.example.org", "")
    assert Settings(public_url="https://a.example:8443/").url == "https://a.example:8443"


@pytest.mark.parametrize(
    ("former", "value", "name"),
    [("DOORS", "key oidc", "sign_in_methods"), ("LEDGER_HEADS", "/srv", "ledger_anchor_dir")],
)
def test_former_name_of_a_setting_is_read_with_a_warning(former: str, value: str, name: str) -> None:
    """An upgrade shuts nobody out; the present name wins where both are set."""
    with pytest.warns(FutureWarning, match=f"SOTTOVOCE_{name.upper()}"):
        settings = Settings.from_environment({f"SOTTOVOCE_{former}": value})

    assert getattr(settings, name) == value
    assert Settings.from_environment({f"SOTTOVOCE_{former}": "passkey", **settings.to_environment()}) == settings
