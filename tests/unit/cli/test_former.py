"""Each command before 0.4 and each of its options leads to a present command, with a note of one line."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli.main import FORMER, current_words, main

from tests.journey.test_running_pages import command_of
from tests.unit.aggregator.authoring.workbooks import workbook

COMMANDS = """
access grant: --survey --data
access list: --data
access revoke: --survey --data
account disable: --data
account enable: --data
account list: --data
account recover: --data
audit: --client --quick --curator --json
backup: --keep-days --data
compare: --from --url --key-file --data --json --outcome --groups --category --weights --wave
copy: --to --to-file --data
crosstab: --from --url --key-file --data --json --rows --columns --within --weights --wave --release-epsilon --yes
curator bind: --survey --declaration --data --epsilon --delta --neighbours --json
curator budget: --survey --declaration --data --json
curator cluster: --k --method --iterations --empty --svg --epsilon --survey --declaration --data --json
curator count: --where --most --weight --epsilon --survey --declaration --data --json
curator histogram: --epsilon --survey --declaration --data --json
curator mean: --epsilon --survey --declaration --data --json
curator sum: --epsilon --survey --declaration --data --json
curator top: --noise --epsilon --survey --declaration --data --json
curator vector: --norm --radius --delta --epsilon --survey --declaration --data --json
demo: --folder --export --force --port --exit
doctor: --data
estimate: --engine --scheduler --interval --wave --out --force
export: --format --cohort --interval --people --wave --out --force --yes --release-epsilon --data
healthcheck: --ready
import-xlsform: --out --force
init: --list --template --example
invite: --survey --data
journal export: --survey --since --until --out --force --data
journal show: --survey --since --until --data
journal verify: --head --data
key create: --scope --days --label --survey --data
key list: --data
key revoke: --data
ledger clear: --everything --yes
ledger send: --json
ledger show: --json --reports
letter: --kind --language --link --links --out --force
lint: --json
migrate: --stopped --data
page: --folder --file
pairs: --from --url --key-file --data --json --wave
plan: --question --epsilon --options --prevalence -p --mean --half-width --against --power --confidence --assurance --response-rate --design-effect --ask --with --own-coin --compare --out --json
privacy: --people --waves --respondents --delta --json --html --language --force
purge: --clock-ok --data
qr: --out --wave --language --data
regress: --from --url --key-file --data --json --outcome --on --model --errors --cluster --at --weights --wave
reidentify: --public --sensitive --with --k --declaration --json
researcher add: --data
researcher list: --data
researcher revoke: --yes --data
respond: --answers --yes --json --allow-question --allow-total --exactly --later --withdraw
restore: --data
serve: --host --port --token-file --data
simulate: --n --seed --url --yes --json
survey close: --yes --data
survey delete: --yes --data
survey list: --data
survey publish: --retire --keep --data
survey reopen: --data
token create: --count --out --cards --language --wave --data
token hold-after-restore: --data
token reissue-after-restore: --yes --data
token revoke: --data
token stats: --data
verify: --json
weights: --from --url --key-file --data --json --to --out --force
"""  # noqa: E501 - the options of a command are one line
"""Every command of version 0.3 with its options, as its own help listed them."""

FOUND = [line.split(":", 1) for line in COMMANDS.strip().splitlines()]


@pytest.mark.parametrize(("former", "options"), FOUND, ids=[name for name, _ in FOUND])
def test_former_command_leads_to_a_present_one_with_its_options(former: str, options: str) -> None:
    """What was typed before is typed on for one release; options of the former words are taken too."""
    command, rest = command_of(current_words(former.split()))

    assert not isinstance(command, click.Group)
    names = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    assert {*options.split(), *rest} <= names


def test_list_has_all_former_commands_and_names_only_present_ones() -> None:
    """At most 15 names at the top, none of which is a former one."""
    shown = main.list_commands(click.Context(main))

    assert (len(FOUND), len(shown) <= 15) == (68, True)
    assert not FORMER.keys() & {*shown}


def test_former_command_runs_after_a_note_of_one_line() -> None:
    """On standard error, so that programs which read the output go on."""
    ended = CliRunner().invoke(main, ["init", "--list"])

    assert ended.exit_code == 0
    assert ended.stderr == 'Note: "sottovoce init" is now "sottovoce new"; the former name works until 0.5.\n'
    assert ended.stdout == CliRunner().invoke(main, ["new", "--list"]).stdout


def test_former_import_writes_the_survey_of_the_workbook(tmp_path: Path) -> None:
    """Its argument was the workbook, and --out the survey file."""
    form, out = tmp_path / "form.xlsx", tmp_path / "survey.yaml"
    rows = (("type", "name", "label"), ("select_one yn", "smokes", "Do you?"))
    options = (("list_name", "name", "label"), ("yn", "yes", "Yes"), ("yn", "no", "No"))
    form.write_bytes(workbook(survey=rows, choices=options))
    ended = CliRunner().invoke(main, ["import-xlsform", "--out", str(out), str(form)])

    assert ended.exit_code == 0, ended.stderr
    assert [question.name for question in read_survey_file(out).questions] == ["smokes"]
