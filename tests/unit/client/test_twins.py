"""The two clients are twins: what both do is in files of one name, under one name."""

import ast
import re
from importlib.resources import files
from typing import NamedTuple

import pytest

from tests.unit.client.test_web_sources import SOURCES


class Twin(NamedTuple):
    """A Python module, and the browser's modules that do the same.

    Attributes:
        python: the module below ``sottovoce``.
        scripts: several where the page needs one part of it earlier than another.
        within: of the scripts' names those that match; a script may be the twin of several modules.
        renamed: the JavaScript name of a function or a class, where it is not the Python one's.
        only_python: what the browser has no need of, and why.
        only_javascript: what Python has no need of, or has as a method or within another function, and why.
    """

    python: str
    scripts: tuple[str, ...]
    within: str = ".*"
    renamed: dict[str, str] = {}  # noqa: RUF012 - never changed
    only_python: dict[str, str] = {}  # noqa: RUF012
    only_javascript: dict[str, str] = {}  # noqa: RUF012


AUTHORS = "for authors and researchers"
TYPE = "a type for a checker; a plain object in JavaScript"
STORED = "a folder that people look into; a browser has its own database"
PIECE = "a step that several modules share, since the page comes in parts"
DATA = "the standard library or a type has it in Python"


def classes(mark: str) -> dict[str, tuple[str, str]]:
    """Script and class of each name that a class bears under this mark."""
    pattern = re.compile(rf'^export class (\w+)[^}}]*? {mark} = "(\w+)"', re.MULTILINE)
    return {name: (path, own) for path, source in SOURCES.items() for own, name in pattern.findall(source)}


CLASSES = classes("mechanismName")
BEST = {"square_wave": {"defaultBins": AUTHORS, "bestWidth": AUTHORS}, "subset_selection": {"bestSize": AUTHORS}}

TWINS = [
    Twin(
        "shared.parse_survey",
        ("survey/parse_survey.js", "survey/waves.js"),
        only_python={"readCanonical": "the aggregator's own reading, also of what is not published yet"},
        only_javascript={"readWaves": PIECE, "sentencesOfWaves": PIECE},
    ),
    Twin(
        "shared.parse_item",
        ("survey/parse_item.js", "survey/more_items.js"),
        within="(?!readAfter).*",
        only_python={"ItemReader": "it collects every problem; the page stops at the first", "dumpItems": AUTHORS}
        | {"dumpCondition": AUTHORS},
        only_javascript=dict.fromkeys(
            ["parseItem", "readHead", "readQuestion", "readAsked", "readChoices", "readConditions"], PIECE
        ),
    ),
    Twin(
        "shared.completion",
        ("survey/screen_out.js", "survey/more_items.js"),
        within="readAfter|readScreenOut|ending",
        only_javascript={"readScreenOut": PIECE},
    ),
    Twin(
        "shared.checks",
        ("survey/checks.js",),
        only_python={"Reader": "it collects every problem; the page stops at the first"},
        only_javascript=dict.fromkeys(
            [
                "locate",
                "readFields",
                "readItems",
                "readMatch",
                "readInteger",
                "readLanguage",
                "readTexts",
                "readMoment",
                "readDay",
                "readNames",
            ],
            "methods of Reader",
        ),
    ),
    Twin("shared.spec", ("survey/spec.js",), only_python=dict.fromkeys(["Choice", "Item", "Wave"], TYPE)),
    Twin("shared.report", ("survey/report.js",), renamed={"receipt": "expectedReceipt"}, only_python={"Report": TYPE}),
    Twin(
        "shared.answers",
        ("survey/answers.js", "survey/grid.js"),
        only_python={"randomAnswers": AUTHORS},
        only_javascript=dict.fromkeys(["bitOf", "maskOf", "bitsOf"], "operators of Python's integers"),
    ),
    Twin("shared.types.base", ("survey/types/common.js",), within="QuestionType|isBelow"),
    Twin(
        "shared.types.options",
        ("survey/types/common.js", "survey/types/rare.js"),
        within="(SelectOne|Rating|Boolean|SelectMultiple)Type|optionIndex",
    ),
    Twin(
        "shared.types.numbers",
        ("survey/types/common.js", "survey/types/rare.js"),
        within="(Integer|Decimal|Date|Vector)Type|DayGrid",
        only_python={"gridOf": TYPE},
    ),
    Twin(
        "shared.languages",
        ("survey/languages.js",),
        only_python=dict.fromkeys(["textsOf", "languagesOf", "missingTexts", "textTags"], AUTHORS),
        only_javascript=dict.fromkeys(["chooseLanguage", "direction", "decimalPoint"], "the terminal speaks English"),
    ),
    Twin("shared.visibility", ("survey/visibility.js",), only_python={"Condition": TYPE}),
    Twin(
        "shared.accounting",
        ("survey/allowance.js",),
        within="beliefAfter",
        only_python={"Loss": TYPE}
        | dict.fromkeys(
            [
                "groupLoss",
                "reportEpsilon",
                "wavesEpsilon",
                "percentAfter",
                "percentAtMost",
                "checkEpsilon",
                "checkDelta",
                "checkDeltaAmong",
                "isLargeDelta",
                "checkWhole",
            ],
            AUTHORS,
        ),
    ),
    Twin(
        "shared.tokens",
        ("survey/link.js",),
        within="parseToken",
        only_python=dict.fromkeys(["spellToken", "printToken", "tokenHash"], "the aggregator makes and stores tokens"),
    ),
    Twin(
        "shared.blind_signatures",
        ("survey/blind_signatures.js",),
        # All modules share one scope once they are joined.
        renamed={"encode": "encodeMessage"},
        only_python={"Blinded": TYPE} | dict.fromkeys(["verify", "matches"], "the aggregator verifies"),
        only_javascript=dict.fromkeys(["integerOf", "bytesOf", "bitsOfModulus"], "methods of Python's integers"),
    ),
    Twin(
        "shared.redemption",
        ("survey/redemption.js",),
        only_python=dict.fromkeys(["RedeemRequest", "Redemption"], TYPE)
        | dict.fromkeys(["parseRequest", "dumpReply", "spellModulus", "fits"], "the aggregator's half"),
        only_javascript={"readBlind": PIECE, "readWaiting": PIECE},
    ),
    Twin(
        "client.redemption",
        ("device/redemption.js",),
        # A ledger's method has the name, and all modules share one scope.
        renamed={"prepare": "prepareIds"},
        only_python=dict.fromkeys(["Signed", "Prepared", "Redeemer"], TYPE)
        | {"checkSigned": "within Respondent.drawn, which may wait"},
        only_javascript={"redemptionKey": PIECE, "isToRedeem": "the terminal asks before each visit"},
    ),
    Twin(
        "shared.allowance",
        ("survey/allowance.js",),
        within="(?!beliefAfter).*",
        only_python={"Allowance": TYPE, "checkAllowance": "within Respondent"},
    ),
    Twin(
        "shared.by_hand.own_coin",
        ("survey/own_coin.js",),
        only_python=dict.fromkeys(["Part", "Procedure"], TYPE),
        only_javascript={"checkOwnCoin": "a method of the survey's reader"},
    ),
    Twin(
        "shared.order.orders",
        ("survey/order/order.js",),
        only_python=dict.fromkeys(["OrderedList", "Arrangement"], TYPE)
        | dict.fromkeys(["namesOf", "units"], "private in JavaScript"),
        only_javascript={"inOrder": "within Interview"},
    ),
    Twin("shared.by_hand.parse_innocuous", ("survey/by_hand/innocuous.js",), within="(read|check)Innocuous"),
    Twin(
        "shared.mechanisms.innocuous_rr",
        ("survey/by_hand/innocuous.js",),
        within="InnocuousRR|bringInnocuous",
        only_python={"channel": "within InnocuousRR"},
        only_javascript={"bringInnocuous": PIECE},
    ),
    Twin(
        "shared.rational",
        ("survey/rational.js",),
        only_python=dict.fromkeys(["dumpFraction", "expBelow", "oddsBelow", "showOdds"], AUTHORS),
        only_javascript={"must": PIECE, "lcm": DATA, "sum": DATA},
    ),
    Twin(
        "shared.canonical",
        ("survey/canonical.js",),
        # All modules share one scope once they are joined.
        renamed={"dump": "dumpCanonical", "load": "loadCanonical"},
        only_python={
            "DigestedDocument": "properties of Survey",
            "checkTree": "also for what authors write, which is not canonical",
        },
        only_javascript={"sha256": DATA, "hexadecimal": DATA},
    ),
    Twin(
        "shared.errors",
        ("survey/errors.js",),
        only_python={"Problem": AUTHORS, "AnsweredPersonally": "BudgetExhausted, with a sentence of its own"}
        | dict.fromkeys(
            ["ReportRejected", "EstimateError", "StillOpen", "OptionsError", "StorageError", "RevisionConflict"],
            "raised by the aggregator",
        )
        | dict.fromkeys(["Sentence", "errorMessage"], "a page says each sentence from its catalogue")
        | dict.fromkeys(
            ["didYouMean", "cannotRead", "cannotWrite", "installCommand"], "files and names that are typed"
        ),
        only_javascript={"LoadError": "a program is there as a whole, a page may not be"},
    ),
    Twin(
        "shared.mechanisms.base",
        ("survey/mechanisms/common.js",),
        within="Mechanism|oddsField",
        only_python=dict.fromkeys(["Mask", "OfOdds", "Table"], TYPE),
        only_javascript={"oddsField": "a mechanism's parse, with fraction_field of parameters.py"},
    ),
    Twin(
        "shared.mechanisms.bits",
        ("survey/mechanisms/options.js",),
        within="Bits",
        only_python={"ThroughBit": "there they extend BinaryRR", "checkMaskable": "a line of each constructor"},
    ),
    *(
        Twin(f"shared.mechanisms.{name}", (path,), within=own, only_python=BEST.get(name, {}))
        for name, (path, own) in CLASSES.items()
    ),
    Twin(
        "client.randomizers",
        ("device/randomize.js", "device/randomizers.js", "device/memo.js", "device/joint_rr.js"),
        within="randomize[A-Z].*|drawBits|drawFromRow|memorize",
        renamed={f"randomize{name}Rr": f"randomize{name}RR" for name in ("Memoized", "Joint", "Rounding")},
        only_python={"recall": "within randomizeMemoizedRR", "perturb": "private in JavaScript"},
        only_javascript={"randomizeSquareWave": PIECE},
    ),
    Twin(
        "shared.mechanisms.joint_rr",
        ("survey/mechanisms/joint_rr.js",),
        only_python={"JointYesNo": "a mark of JointMember", "checkSizes": "within JointRR"},
    ),
    Twin(
        "shared.mechanisms.blocks",
        ("survey/blocks.js",),
        only_python={"Block": TYPE, "blocksOf": "units of Survey", "flatItems": AUTHORS},
        only_javascript=dict.fromkeys(["readBlock", "checkBlocks"], "methods of ItemReader"),
    ),
    Twin(
        "shared.arms.parse_arms",
        ("survey/arms/arms.js",),
        only_python=dict.fromkeys(["textsByArm", "armQuestion"], "within readArms") | {"dumpArms": AUTHORS},
    ),
    Twin(
        "shared.arms.arms",
        ("survey/asked.js",),
        only_python=dict.fromkeys(["askedOf", "samples", "armIndex"], "methods of SampledSurvey")
        | {"Arm": TYPE, "UnitSample": TYPE}
        | dict.fromkeys(["shareAsked", "isArm", "reportsByQuestion"], "of planning and results"),
        only_javascript={"readSample": "within parseSurvey"},
    ),
    Twin(
        "client.draws",
        ("device/draws.js",),
        only_javascript={"checkDevice": "a page may be opened where randomness is missing", "systemBytes": DATA},
    ),
    Twin(
        "client.ledger",
        ("device/ledger.js",),
        only_python=dict.fromkeys(["Key", "Entry", "Ledger"], TYPE)
        | {"MemoryLedger": "for simulations"}
        | dict.fromkeys(["over", "firstUnaccepted"], "within BrowserLedger")
        | {"recorded": "within AnswerPath, which shows what it refuses"},
        only_javascript={"BrowserLedger": "the twin of FileLedger, which has a module of its own"},
    ),
    Twin(
        "client.memo",
        ("device/memo.js",),
        within="(?!randomize|memorize).*",
        only_python={"digestOfDigits": "within checkMemo, which may fetch"},
    ),
    Twin(
        "client.question_sample",
        ("device/question_sample.js", "device/arm_draw.js"),
        only_python={"poolOf": "within keepUnasked"},
    ),
    Twin(
        "client.delivery",
        ("device/delivery.js",),
        renamed={"takeBack": "withdrawReport"},
        only_python={"receiptOf": "within deliver"} | dict.fromkeys(["readable", "drawnFor"], STORED),
        only_javascript={"sendWaiting": "the verb `send` of the command line"},
    ),
    Twin("client.waiting", ("device/waiting.js",)),
    Twin(
        "client.respondent",
        ("device/respondent.js", "device/answer_path.js", "device/randomize.js", "device/order_draw.js"),
        within="(?!randomize.|drawFromRow).*",
        only_javascript={
            "inDrawnOrder": PIECE,
            "AnswerPath": "what Respondent.answer, send and withdraw do, after the first step",
            "bringRandomizers": PIECE,
        },
    ),
    Twin(
        "client.transport",
        ("device/transport.js",),
        only_python={"Reply": TYPE, "now": DATA, "jitter": "within secondsToWait"},
        only_javascript={
            "secondsToWait": "Transport's own in Python",
            "sentenceOf": "the terminal's own words",
            "pause": DATA,
        },
    ),
    Twin("client.link", ("survey/link.js",), within="parseLink", only_python={"Link": TYPE, "fragmentOf": STORED}),
    Twin("client.value_words", ("form/value_words.js",)),
]
ONLY_IN_BROWSERS = {
    "survey/known.js": "what the page knows before a survey names more",
    "survey/bring.js": "a program has everything at once",
    "survey/rare.js": PIECE,
    "device/offline.js": "a program needs nobody to serve it",
    "device/revisions.js": "the terminal's own, by other names: a page keeps texts and reads them late",
    "device/entries.js": STORED,
    "device/leave_no_word.js": STORED,
    "device/send_time.js": "whoever sees the terminal's requests sees the terminal",
}


def camel(name: str) -> str:
    """A Python name as JavaScript spells it; classes and letters in a row stay."""
    return name if name[0].isupper() else re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def python_names(source: str) -> set[str]:
    """Public functions and classes, as JavaScript spells them."""
    nodes = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return {camel(node.name) for node in nodes if not node.name.startswith("_")}


def javascript_names(source: str) -> set[str]:
    """Exported functions and classes."""
    return set(re.findall(r"^export (?:async )?(?:function|class) (\w+)", source, re.MULTILINE))


def differences(twin: Twin, python: str, javascript: str) -> tuple[set[str], set[str]]:
    """What one twin has and the other one lacks without a reason; and the reasons that are none any more."""
    ours = {twin.renamed.get(name, name) for name in python_names(python)}
    theirs = {name for name in javascript_names(javascript) if re.fullmatch(twin.within, name)}
    reasons = {*twin.only_python, *twin.only_javascript}
    needless = (reasons & ours & theirs) | (reasons - ours - theirs)
    return (ours - theirs - twin.only_python.keys()) | (theirs - ours - twin.only_javascript.keys()), needless


def texts(twin: Twin) -> tuple[str, str]:
    """Both sources."""
    package, _, module = f"sottovoce.{twin.python}".rpartition(".")
    python = files(package).joinpath(f"{module}.py").read_text(encoding="utf-8")
    return python, "\n".join(SOURCES[script] for script in twin.scripts)


def test_twins_have_the_same_functions() -> None:
    """Whatever only one of them has stands in the table, with a reason."""
    found = {twin.python: differences(twin, *texts(twin)) for twin in TWINS}
    assert {python: names for python, names in found.items() if names != (set(), set())} == {}


def test_every_module_of_the_browser_has_a_twin() -> None:
    """What a survey is and what a device does is said in both languages."""
    twins = [script for twin in TWINS for script in twin.scripts]
    assert {path for path in SOURCES if path.startswith(("survey/", "device/"))} == {
        *(script for script in twins if not script.startswith("form/")),
        *ONLY_IN_BROWSERS,
    }


def test_every_name_of_a_twin_is_one_of_its_twins() -> None:
    """None is left out because a script is the twin of several modules."""
    left = [(script, name) for script in {script for twin in TWINS for script in twin.scripts}
            for name in javascript_names(SOURCES[script])
            if not any(script in twin.scripts and re.fullmatch(twin.within, name) for twin in TWINS)]  # fmt: skip
    assert left == []


@pytest.mark.parametrize(
    ("python", "javascript"),
    [
        ("\ndef is_hidden() -> bool:\n    return True\n", ""),
        ("", "\nexport function isHidden() {}\n"),
        ("\nclass Hidden:\n    pass\n", ""),
        ("", "\nexport class Condition {}\n"),
    ],
)
def test_rule_catches_a_twin_that_grew_alone(python: str, javascript: str) -> None:
    """The rule would catch these."""
    twin = next(one for one in TWINS if one.python == "shared.visibility")
    ours, theirs = texts(twin)
    assert differences(twin, ours + python, theirs + javascript) != (set(), set())
