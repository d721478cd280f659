"""The whole way of an answer in the browser's client, under node: what is honest passes, and each plant is found."""

from collections.abc import Sequence

import pytest
from sottovoce.audit import javascript_code, javascript_way
from sottovoce.audit.check import PASSED, Check
from sottovoce.audit.interference import IDENTITY, SUBJECT
from sottovoce.audit.javascript_code import check_form, check_javascript
from sottovoce.audit.javascript_way import FORM, REFUSALS
from sottovoce.audit.python_code import plan, private
from sottovoce.audit.randomness import SOURCE
from sottovoce.audit.runs import plan_runs
from sottovoce.audit.test_keys import MODULI
from sottovoce.client import bundle, page
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

from tests.documents import question, survey
from tests.surveys import every_type, months
from tests.surveys import survey as of

_COIN = {"name": "coin_flip"}
_MEMO = {"name": "memoized_rr", "permanent": _COIN, "instantaneous": _COIN, "waves": 2}
TWO = parse_survey(survey(*({**question(_COIN), "name": name} for name in ("first", "second"))))
ASK = parse_survey(survey(*({**question(_COIN), "name": f"q{place}"} for place in range(4)), ask=2, access="token"))
MEMOIZED = parse_survey(survey(question(_MEMO), waves=months(2)))
EVERY = of(name="every", questions=every_type())
SIGNED = parse_survey(
    survey(
        *({**question(_COIN), "name": name} for name in ("first", "second", "third")),
        ask=2,
        access={"blind": [spell_modulus(MODULI[0])]},
        privacy={"send_within_hours": 1},
    )
)

Change = tuple[str, str, str]
"""A module, what stands in it, and what is put in its place."""

LEARN: Change = (
    "device/answer_path.js",
    "return survey.encode(answers, asked);",
    'Object.learnt = answers.first === "yes";\n  return survey.encode(answers, asked);',
)
"""Whatever else is planted knows the answer."""

BEYOND = "it uses something of the browser that nobody needs to answer"

PLANTS: dict[str, tuple[list[Change], str, str]] = {
    "header": (
        [LEARN, ("device/transport.js", "const headers = { ...JSON_TYPE, ...more };",
                 'const headers = { ...JSON_TYPE, ...more, Accept: Object.learnt ? "*/*" : "*" };')],
        SUBJECT, "the headers of a request depends on the answer to 'first'"),
    "address": (
        [LEARN, ("device/transport.js", "return this.#post(`${survey}/reports`",
                 'return this.#post(`${survey}/reports${Object.learnt ? "?" : ""}`')],
        SUBJECT, "the address of a request"),
    "always more": (
        [("device/transport.js", 'credentials: "omit"', 'credentials: "include"')], SUBJECT, "not agreed"),
    "ledger": (
        [LEARN, ("device/answer_path.js", "epsilon: survey.epsilonOfWave,",
                 "epsilon: survey.epsilonOfWave + Object.learnt / 1e9,")],
        SUBJECT, "what it writes on the device depends on the answer to 'first'"),
    "when the page is left": (
        [LEARN, ("device/delivery.js", "const expected = await",
                 'addEventListener("pagehide", () => navigator.sendBeacon(`/${Object.learnt}`));\n'
                 "  const expected = await")],
        SUBJECT, "what it does with the page depends on the answer to 'first'"),
    "an hour later": (
        [LEARN, ("device/delivery.js", "const expected = await",
                 "setTimeout(() => console.log(Object.learnt), 3_600_000);\n  const expected = await")],
        SUBJECT, "what it prints depends on the answer to 'first'"),
    "window": (
        [LEARN, ("device/delivery.js", "const expected = await",
                 'globalThis.window?.localStorage.setItem("x", Object.learnt);\n  const expected = await')],
        SUBJECT, "what it does with the page depends on the answer to 'first'"),
    "earlier report": (
        [LEARN, ("device/delivery.js", "const expected = await",
                 "if ((await ledger.spent(transport.origin)) > 2) console.log(Object.learnt);\n"
                 "  const expected = await")],
        SUBJECT, "what it prints depends on the answer to 'first'"),
    "request as an object": (
        [LEARN, ("device/delivery.js", "const expected = await",
                 "await fetch(new Request(transport.origin)).catch(() => {});\n  const expected = await")],
        SUBJECT, "not agreed"),
    "picture": (
        [("form/steps/questions.js", "if (complete(showParts(parts), summary, words)) onDone();",
          "if (!complete(showParts(parts), summary, words)) return;\n"
          '    document.createElement("img").src = JSON.stringify(given());\n    onDone();')],
        FORM, "what it does with the page depends on the answer to 'first'"),
    "chosen before": (
        [("form/choice_input.js", "clear: () => inputs.forEach((input) => (input.checked = false)),",
          "clear: () => inputs.forEach((input) => (input.checked = false)),\n"
          "    changed: inputs.forEach((input, at) =>\n"
          '      input.addEventListener("change", () => inputs.had === undefined ? (inputs.had = at)\n'
          '        : console.log(inputs.had))),')],
        FORM, "what it prints depends on the answer to"),
    "name of the window": (
        [("device/answer_path.js", "return survey.encode(answers, asked);",
          "globalThis.name = answers.first;\n  return survey.encode(answers, asked);")],
        SUBJECT, "what else it uses of the browser depends on the answer to 'first'"),
    "unknown to the audit": (
        [("device/answer_path.js", "return survey.encode(answers, asked);",
          "globalThis.speechSynthesis?.cancel();\n  return survey.encode(answers, asked);")],
        SUBJECT, BEYOND),
    "put on the page's globals": (
        [("device/answer_path.js", "return survey.encode(answers, asked);",
          "globalThis.somewhere = 1;\n  return survey.encode(answers, asked);")],
        SUBJECT, BEYOND),
    "kept as a reply": (
        [("device/answer_path.js", "return survey.encode(answers, asked);",
          'Promise.resolve(globalThis.caches?.open("own")).then((at) => at?.put("/own", new Response(answers.first)));'
          "\n  return survey.encode(answers, asked);")],
        SUBJECT, "what it does with the page depends on the answer to 'first'"),
    "kept as a form": (
        [("device/answer_path.js", "return survey.encode(answers, asked);",
          'const held = new FormData();\n  held.set("it", answers.first);\n  '
          'Promise.resolve(globalThis.caches?.open("own")).then((own) => own?.put("/own", held));\n  '
          "return survey.encode(answers, asked);")],
        SUBJECT, "what it does with the page depends on the answer to 'first'"),
    "kept as a request": (
        [("device/answer_path.js", "return survey.encode(answers, asked);",
          'const own = new Request("/own", { headers: { a: answers.first } });\n  '
          'Promise.resolve(globalThis.caches?.open("own")).then((kept) => kept?.add(own));\n  '
          "return survey.encode(answers, asked);")],
        SUBJECT, "what it does with the page depends on the answer to 'first'"),
    "broken off": (
        [LEARN, ("device/transport.js", "return await this.#fetch(this.origin + path, {",
                 "const early = AbortSignal.abort();\n      if (Object.learnt && !this.early) "
                 "return (this.early = await this.#fetch(this.origin, { signal: early }));\n"
                 "      return await this.#fetch(this.origin + path, {")],
        SUBJECT, "depends on the answer to 'first'"),
    "markup": (
        [("form/steps/questions.js", "if (complete(showParts(parts), summary, words)) onDone();",
          "if (!complete(showParts(parts), summary, words)) return;\n"
          '    document.createElement("div").innerHTML = JSON.stringify(given());\n    onDone();')],
        FORM, "what else it uses of the browser depends on the answer to 'first'"),
    "method of an element": (
        [("form/steps/questions.js", "if (complete(showParts(parts), summary, words)) onDone();",
          "form.animate?.([]);\n    if (complete(showParts(parts), summary, words)) onDone();")],
        FORM, BEYOND),
    "method of the document": (
        [("form/steps/questions.js", "if (complete(showParts(parts), summary, words)) onDone();",
          'document.execCommand?.("copy");\n    if (complete(showParts(parts), summary, words)) onDone();')],
        FORM, BEYOND),
    "chosen before the review": (
        [("form/steps_flow.js", "async #review() {",
          "async #review() {\n    const chosen = JSON.stringify(this.#asking.answers());\n    this.seen ??= chosen;\n"
          "    if (chosen !== this.seen) console.log(this.seen);")],
        FORM, "what it prints depends on the answer to"),
    "another language": (
        [("form/steps/questions.js", 'const title = words.text("h1", survey.title, { tabIndex: -1 });',
          'words.given = given;\n  const title = words.text("h1", survey.title, { tabIndex: -1 });'),
         ("form/language_choice.js", "const choose = () => words",
          "const choose = () => console.log(words.given()) ?? words")],
        FORM, "what it prints depends on the answer to"),
    "page around it": (
        [("form/steps_flow.js", "const answers = this.#asking.answers();",
          "const answers = this.#asking.answers();\n    if (parent !== self) parent.postMessage(answers);")],
        FORM, "what it does with the page depends on the answer to 'first'"),
    "listening to the page": (
        [("form/start.js", 'addEventListener("pagehide", () => form.forget());',
          'addEventListener("change", ({ target }) => console.log(target.id));')],
        FORM, "what it prints depends on the answer to"),
    "listening to the document": (
        [("form/start.js", 'addEventListener("pagehide", () => form.forget());',
          'document.addEventListener("change", { handleEvent: ({ target }) => console.log(target.id) });')],
        FORM, "what it prints depends on the answer to"),
    "remembered": (
        [("form/steps/questions.js", 'noValidate: true, autocomplete: "off" });', "noValidate: true });")],
        FORM, "the browser may remember what is entered"),
    "not forgotten": (
        [("device/answer_path.js", 'await ledger.end(key, "forgotten");', "")],
        SUBJECT, "what is left after forgetting hangs on what was reported"),
    "id": (
        [("device/randomize.js", "const report_id = signed?.id ?? draws.identity();",
          "const report_id = draws.identity().slice(0, -1) + values[0];")],
        SUBJECT, "the report is not the one that its draws make"),
    "waits": (
        [LEARN, ("device/send_time.js", "const result = await work();",
                 "const result = await work();\n  if (Object.learnt) await timer(1);")],
        SUBJECT, "wait"),
    "prints": (
        [LEARN, ("device/delivery.js", "const expected = await",
                 "console.log(Object.learnt);\n  const expected = await")],
        SUBJECT, "what it prints depends on the answer to 'first'"),
    "by the clock": (
        [("device/randomize.js", "const report_id = signed?.id ?? draws.identity();",
          "if (Math.floor(performance.now() / 3500) % 2) console.log();\n"
          "  const report_id = signed?.id ?? draws.identity();")],
        SUBJECT, "what it does hangs on the time"),
    "one byte more": (
        [("device/randomize.js", "const report_id = signed?.id ?? draws.identity();",
          "const report_id = signed?.id ?? draws.identity();\n  draws.below(2);")],
        SUBJECT, "it does not use just the random bytes"),
    "only both": (
        [("device/answer_path.js", "return survey.encode(answers, asked);",
          'if (answers.first === "yes" && answers.second === "yes") console.log();\n  '
          "return survey.encode(answers, asked);")],
        SUBJECT, "what it prints depends on the answer to 'first' and 'second'"),
    "title": (
        [("device/answer_path.js", "return survey.encode(answers, asked);",
          "globalThis.document.title = answers.first;\n  return survey.encode(answers, asked);")],
        SUBJECT, "what it does with the page depends on the answer to 'first'"),
    "receipt": (
        [("form/steps/questions.js", "if (complete(showParts(parts), summary, words)) onDone();",
          "if (!complete(showParts(parts), summary, words)) return;\n    Object.learnt = fields[0].read();\n    "
          "onDone();"),
         ("form/steps/receipt.js", 'const title = heading(1, words.node("receipt_title"));',
          'const title = heading(Object.learnt === "yes" ? 1 : 2, words.node("receipt_title"));')],
        FORM, "what the page shows when the report was sent or forgotten depends on the answer to 'first'"),
    "another answer": (
        [("form/steps/questions.js", "answers: () => Object.fromEntries(given()),",
          "answers: () => ({ ...Object.fromEntries(given()), "
          'second: given()[0][1] === "yes" ? "yes" : given()[1][1] }),')],
        FORM, "what it writes on the device depends on the answer to 'first'"),
    "Math.random": (
        [("device/draws.js", "return crypto.getRandomValues(new Uint8Array(count));",
          "return crypto.getRandomValues(new Uint8Array(count)).map((byte) => byte ^ (Math.random() * 256));")],
        SOURCE, "elsewhere than crypto.getRandomValues: Math.random"),
    "thrown away": (
        [("device/draws.js", "return crypto.getRandomValues(new Uint8Array(count));",
          "return crypto.getRandomValues(new Uint8Array(2 * count)).slice(count);")],
        SOURCE, "its draws are not made of all its random bytes"),
    "falls back": (
        [("device/draws.js", "return crypto.getRandomValues(new Uint8Array(count));",
          "try {\n    return crypto.getRandomValues(new Uint8Array(count));\n  } catch {\n    "
          "return new Uint8Array(count);\n  }")],
        SOURCE, "it draws where there is no randomness"),
    "fewer bits": (
        [("device/draws.js", "return hexadecimal(this.exactly(16));",
          'return hexadecimal(this.exactly(16).map((byte, place) => (place === 7 ? byte & 127 : byte)));')],
        IDENTITY, "an id is not just its 16 random bytes"),
    "another survey": (
        [("device/respondent.js", "if ((await sha256(bytes)).startsWith(link.digest)) return bytes;",
          "if (bytes) return bytes;")],
        REFUSALS, "another survey"),
    "any price": (
        [("device/respondent.js", "if (!(epsilon <= limit)) throw", "if (!(epsilon <= 2 * limit)) throw")],
        REFUSALS, "costs more than is allowed"),
    "repeats": (
        [("survey/spec.js", 'throw error instanceof RangeError ? new AnswerError("error_unexpected") : error;',
          'throw error instanceof RangeError ? new AnswerError("error_unexpected", { answer }) : error;')],
        REFUSALS, "repeats it in an error"),
    "joint": (
        [("device/randomizers/binary_rr.js", "return draws.pick(mechanism.weights(value));",
          "const drawn = draws.pick(mechanism.weights(value));\n  draws.below(drawn === value ? 3 : 5);\n  "
          "return drawn;")],
        "first", "what is read depends on"),
}  # fmt: skip


def javascript(asked: Survey) -> list[Check]:
    """What the audit finds in the assembled scripts; few runs."""
    tasks = [task for each in private(asked) if (task := plan(each)) is not None]
    runs, scripts = plan_runs(asked, quick=True), page.opened()
    return [*check_javascript(asked, tasks, scripts, plan=runs), *check_form(asked, scripts, runs)]


def problems(checks: Sequence[Check]) -> dict[str, str]:
    """What failed, by subject."""
    return {check.subject: check.message for check in checks if check.outcome != PASSED}


@pytest.mark.parametrize("asked", [ASK, MEMOIZED, EVERY, SIGNED], ids=["ask", "memo", "every", "signed"])
def test_client_passes(asked: Survey) -> None:
    """With a set of questions, a memo, a token, every type and every mechanism; and says what was tried."""
    checks = javascript(asked)

    assert problems(checks) == {}
    assert {FORM, SUBJECT, IDENTITY, SOURCE, REFUSALS} <= {check.subject for check in checks}
    assert [check.scope for check in checks if check.subject == SUBJECT] == [plan_runs(asked, quick=True).scope]


ORDINARY = (
    "header", "not forgotten", "only both", "receipt", "Math.random", "fewer bits", "another survey", "joint",
    "kept as a reply",
)  # fmt: skip
"""One for each promise; the others take as long again, and are found in the same way."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ORDINARY else pytest.mark.slow) for name in PLANTS]
)
def test_plant_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """In the scripts as they are assembled, under the promise that it breaks."""
    changes, subject, words = PLANTS[name]
    original = bundle.modules

    def planted(*entries: str) -> dict[str, str]:
        sources = original(*entries)
        for path, right, wrong in changes:
            if path in sources:
                assert right in sources[path]
                sources[path] = sources[path].replace(right, wrong)
        return sources

    monkeypatch.setattr(bundle, "modules", planted)
    found = problems(javascript(TWO))

    assert words in found[subject], found


@pytest.mark.slow
def test_other_service_worker_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that sends reports itself, beside a form that is honest."""
    served = page.assemble()
    own = served["sw.js"]
    other = own._replace(body=own.body.replace(b'if (event.request.method === "GET") ', b""))
    assert other != own
    monkeypatch.setattr(javascript_code, "assemble", lambda: {**served, "sw.js": other})

    assert problems(javascript(TWO))[FORM] == javascript_way._ALWAYS["worker"]
