"""The table of all commands, by group; a line here and the function that it names are all that a command needs."""

from sottovoce.cli.group import CommandGroup, CommandPlace


def _group(name: str, line: str, **commands: CommandPlace | CommandGroup) -> CommandGroup:
    """Return a group whose commands stand under one heading."""
    return CommandGroup(name, line, {"Commands": commands})


SURVEY = CommandGroup(
    "survey",
    "Publish, close and delete surveys; write their letters and posters.",
    {
        "From a survey file": {
            "privacy": ("survey.privacy:privacy", "Show what answering costs, for respondents and boards."),
            "simulate": ("survey.simulate:simulate", "Try the survey on invented respondents."),
            "letter": ("survey.letter:letter", "Write the invitation, the reminder or the ethics text."),
            "trial": ("survey.publish:trial", "Publish a test run, for you and colleagues."),
            "publish": ("survey.publish:publish", "Publish the survey and print its links."),
        },
        "Of published surveys": {
            "list": ("survey.publish:list_all", "List all surveys and their revisions."),
            "show": ("survey.publish:show", "Show the state and the links of one survey."),
            "qr": ("link:qr", "Write the link as a QR code or a poster."),
            "paper": ("survey.letter:paper", "Write a questionnaire to print and a table to count it."),
            "page": ("survey.page:page", "Write the form for another web host, or as one file."),
            "close": ("survey.publish:close", "Accept no more reports."),
            "reopen": ("survey.publish:reopen", "Accept reports again."),
            "delete": ("survey.publish:delete", "Delete a survey and its reports."),
        },
    },
)

RESULTS = CommandGroup(
    "results",
    "Estimate, compare and export what respondents reported.",
    {
        "Tables and files": {
            "export": ("results.export:export", "Write the results and files of a survey."),
            "estimate": ("results.estimate:estimate", "Estimate from a folder of report files."),
            "list-experiment": ("results.estimate:list_experiment", "Estimate from counts of items in a file."),
            "items": ("results.analyse:items", "Connect several yes/no questions: Rasch, 2PL, sum."),
            "mixture": ("results.analyse:mixture", "Estimate from two samples, or several draws."),
        },
        "Analyses of closed surveys": {
            "crosstab": ("results.analyse:crosstab", "Cross-tabulate two questions."),
            "compare": ("results.analyse:compare", "Compare a share or a mean between groups."),
            "associations": ("results.analyse:associations", "Test all pairs of questions for association."),
            "test": ("results.analyse:test", "Test shares or a mean against known values."),
            "regress": ("results.analyse:regress", "Fit a regression."),
            "weights": ("results.analyse:weights", "Weight reports to known margins."),
        },
    },
)

LINK = _group(
    "link",
    "Make and revoke personal links, each good for one report.",
    create=("link:create", "Make personal links, as a CSV or as cards to print."),
    stats=("link:stats", "Count made, used and revoked links."),
    revoke=("link:revoke", "Revoke the links in a file."),
    hold=("link:hold", "Hold all links after an old database was put back."),
    reissue=("link:reissue", "Let held links be used again."),
)

DEVICE = _group(
    "device",
    "See, send and clear your own reports on this device.",
    show=("device:show", "List the reports that this device remembers."),
    send=("device:send", "Send the reports that have not arrived."),
    clear=("device:clear", "Forget reports."),
    verify=("device:verify", "Compare a survey's form with this release."),
)

KEY = _group(
    "key",
    "Make, list and revoke access keys.",
    create=("staff:create_key", "Make a key for an account."),
    list=("staff:list_keys", "List all keys."),
    revoke=("staff:revoke_key", "Revoke a key, or all keys of an account."),
)

STAFF = CommandGroup(
    "staff",
    "Give colleagues accounts, roles on surveys, and access keys.",
    {
        "Accounts": {
            "add": ("staff:add", "Add an account that may do everything, and its key."),
            "list": ("staff:list_all", "List the accounts."),
            "disable": ("staff:disable", "Disable an account."),
            "enable": ("staff:enable", "Enable a disabled account."),
            "delete": ("staff:delete", "Delete an account."),
            "recover": ("staff:recover_admin", "Print a link that signs an administrator in."),
        },
        "Roles and keys": {
            "invite": ("staff:invite", "Print a link that gives a new person an account."),
            "grant": ("staff:grant", "Give an account a role on surveys."),
            "revoke": ("staff:revoke", "Take a role back."),
            "roles": ("staff:roles", "List who has which role."),
            "key": KEY,
        },
    },
)

JOURNAL = _group(
    "journal",
    "Show, check and export the log of what staff did.",
    show=("db:show_journal", "Print the entries."),
    verify=("db:verify_journal", "Check that no entry was changed or removed."),
    export=("db:export_journal", "Write the entries as JSON Lines."),
)

DB = _group(
    "db",
    "Check, back up, restore and move the database.",
    doctor=("db:doctor", "Check schema, integrity and all counts."),
    backup=("db:backup", "Write a copy of the database to a new file."),
    restore=("db:restore", "Put a backup into a new database."),
    migrate=("db:migrate", "Bring the database to this version's schema."),
    copy=("db:copy", "Copy everything to another, empty database."),
    purge=("db:purge", "Delete and close what is due."),
    journal=JOURNAL,
)

CURATOR = CommandGroup(
    "curator",
    "Answer with noise from data in trusted hands, under a budget.",
    {
        "Before you publish": {
            "reidentify": ("curator:reidentify", "Count people who could be found in a table."),
            "bind": ("curator:bind", "Check the data and open their budget."),
            "plan": ("curator:plan", "Pay for many equal answers at once."),
            "budget": ("curator:budget", "Show what is spent and what is left."),
        },
        "Questions, each of which spends epsilon": {
            "count": ("curator:count", "Count records that meet a condition."),
            "histogram": ("curator:histogram", "Count records in each cell."),
            "names": ("curator:names", "Count common names that are not declared."),
            "sum": ("curator:sum_", "Sum a number."),
            "mean": ("curator:mean", "Average a number."),
            "quantiles": ("curator:quantiles", "Find the median or other quantiles."),
            "vector": ("curator:vector", "Sum several numbers together."),
            "top": ("curator:top", "Find the most frequent name."),
            "cluster": ("curator:cluster", "Find centres of clusters."),
        },
    },
)

QUESTION = _group(
    "question",
    "Ask one private question in any other survey system.",
    lint=("question:lint", "Check a question and show what an answer costs."),
    snippet=("question:print_snippet", "Print the lines for the page of another system."),
    static=("question:static", "Write the frame for a web host of its own."),
    publish=("question:publish_question", "Let the aggregator ask a question that leads on."),
)

SECTIONS: dict[str, dict[str, CommandPlace | CommandGroup]] = {
    "Start here": {
        "demo": ("demo:demo", "Run a whole survey with 6,366 real answers."),
        "new": ("survey_file:new", "Write a survey file to begin with, or import an XLSForm."),
        "lint": ("survey_file:lint", "Check a survey file and show what it asks."),
        "plan": ("plan:plan", "Calculate how many respondents you need."),
        "serve": ("serve:serve", "Run the aggregator, which collects the reports."),
        "respond": ("respond:respond", "Answer a survey in the terminal."),
        "audit": ("audit:audit", "Test the clients against what a survey claims."),
    },
    "Groups (run one without a command to see its commands)": {
        group.name or "": group for group in (SURVEY, QUESTION, RESULTS, LINK, DEVICE, STAFF, DB, CURATOR)
    },
}

HIDDEN: dict[str, CommandPlace] = {
    "healthcheck": ("process:healthcheck", "Check that the node on this machine answers.")
}
"""Commands for containers, which no list shows."""
