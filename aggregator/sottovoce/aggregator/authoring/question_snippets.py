"""Write ready-made lines that put a question or block into a page of another system, one way for each system."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from urllib.parse import quote, urlsplit

from sottovoce.shared.by_link.link_question import LinkQuestion
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.single_question import SingleBlock, SingleQuestion, element_name

_ELEMENT = """<script type="module" src="{frame}{element}" integrity="{integrity}" crossorigin="anonymous"></script>
"""

_PLAIN = f"""{_ELEMENT}<sottovoce-question src="{{frame}}" participant="{{participant}}" study="{{study}}"
  question="{{attribute}}">{{fallback}}</sottovoce-question>
"""

_JSPSYCH = """import {{ SottovoceQuestionPlugin }} from "@sottovoce/question/jspsych";

const {name} = {{
  type: SottovoceQuestionPlugin,
  src: "{frame}",
  participant: "PARTICIPANT",
  study: "STUDY",
  question: {json},
}};
"""

_SURVEYJS = """import * as SurveyCore from "survey-core";
import {{ registerSottovoceQuestion }} from "@sottovoce/question/surveyjs";

registerSottovoceQuestion(SurveyCore);
// Among the elements of the survey's JSON:
const {name} = {{
  type: "sottovoce",
  name: "{name}",
  src: "{frame}",
  participant: "{{participant}}",
  study: "STUDY",
  question: {text},
}};
"""

_QUALTRICS = """Qualtrics.SurveyEngine.addOnload(function () {{
  const script = document.createElement("script");
  Object.assign(script, {{ type: "module", integrity: "{integrity}", crossOrigin: "anonymous" }});
  script.src = "{frame}{element}";
  const question = document.createElement("sottovoce-question");
  question.textContent = "{fallback}";
  question.setAttribute("src", "{frame}");
  question.setAttribute("participant", "${{e://Field/ResponseID}}");
  question.setAttribute("study", "${{e://Field/SurveyID}}");
  question.setAttribute("question", decodeURIComponent("{quoted}"));
  question.addEventListener("sottovoce-state", () => {{
    const columns = Object.entries(question.columns);
    for (const [name, value] of columns) Qualtrics.SurveyEngine.setJSEmbeddedData(name, value);
  }});
  this.getQuestionContainer().append(question, script);
}});
"""

# No bracket or brace with a name in it: LimeSurvey and REDCap would take it for one of their own fields.
# The question is an attribute, since a property that is set before the element is known hides the element's own.
_FIELDS = f"""{_ELEMENT}<div id="sottovoce_{{name}}"></div>
<script type="module">
const fields = "{{columns}}".split(" ").map((name) => {{field}});
fields.forEach((field) => (field.closest("{{row}}") ?? field).style.setProperty("display", "none"));
const question = document.createElement("sottovoce-question");
question.textContent = "{{fallback}}";
question.setAttribute("src", "{{frame}}");
question.setAttribute("participant", "{{participant}}");
question.setAttribute("study", "STUDY");
question.setAttribute("question", decodeURIComponent("{{quoted}}"));
question.addEventListener("sottovoce-state", () => {{{{
  Object.values(question.columns).forEach((value, place) => {{{{
    const field = fields.at(place);
    field.value = value;
    field.dispatchEvent(new Event("change", {{{{ bubbles: true }}}}));
  }}}});
}}}});
document.getElementById("sottovoce_{{name}}").append(question);
</script>
"""

_BY_NAME = "document.getElementsByName(name).item(0)"
_FALLBACK = "This question cannot be shown now. Please go on without it."

HOSTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "html": (_PLAIN, {"participant": "PARTICIPANT", "study": "STUDY"}),
    "otree": (_PLAIN, {"participant": "{{ participant.code }}", "study": "{{ session.code }}"}),
    "jspsych": (_JSPSYCH, {}),
    "surveyjs": (_SURVEYJS, {}),
    "qualtrics": (_QUALTRICS, {}),
    "limesurvey": (
        _FIELDS,
        {
            "participant": "{TOKEN}",
            "columns": "value channel once state",
            "field": 'document.getElementById("answer{SGQ}".concat(name))',
            "row": "li",
        },
    ),
    "redcap": (_FIELDS, {"participant": "[record-name]", "field": _BY_NAME, "row": "tr"}),
    "formr": (_FIELDS, {"participant": "`r survey_run_sessions$session`", "field": _BY_NAME, "row": ".form-group"}),
}
"""The systems: template, and what is theirs in it."""

_ETHICS = """{count} of the survey {verb} asked with randomized response{together}: {labels}.
The participant's browser changes {answers} by chance before anything leaves it, {way}
The survey's system stores only the changed {stored}. {odds}{visits}
The privacy loss is epsilon = {epsilon}{scope}: a person who thinks it 10% likely
that something is true of a participant can think it at most {belief}% likely after seeing the stored {stored}{even}.
The system still sees that and when a person answered, and stores the changed {stored} with everything else that it
knows about the participant.
"""

_VISITS = """
The survey's system tells visits apart and not people: each visit draws anew, which is counted for {visits} visits."""

_WINDOW = """in a window of its own.
"The survey's page cannot see or hear what you do in this window. It sees when the window opens and closes and receives
your randomized answer. It could show a window of its own that looks like this one: the address at the top tells.\""""

_LINK = """on a page of its own, before the survey.
The changed {stored} {verb} part of the address that the participant goes on to. The browser keeps this address in its
history, and {host} keeps it with the participant's IP address{passed}. Who declines goes on to the survey, too."""


def snippet(host: str, frame: str, asked: SingleQuestion | SingleBlock, script: bytes) -> str:
    """Return the lines that ask a question in one of ``HOSTS``.

    Args:
        host: the system.
        frame: address of the question, like ``https://q.example.org/q/1/``.
        asked: the question or block.
        script: of the element; the lines let a browser run no other.
    """
    template, own = HOSTS[host]
    text = asked.canonical.decode()
    integrity = f"sha384-{b64encode(hashlib.sha384(script).digest()).decode()}"
    columns = [f"{one.name}{end}" for one in asked.questions for end in ("", "_channel", "_once", "_state")]
    places = {"attribute": escape(text), "quoted": quote(text, safe=""), "text": json.dumps(text)}
    places["json"] = json.dumps(asked.document, indent=2)
    places |= {"element": element_name(script), "integrity": integrity, "fallback": _FALLBACK}
    places |= {"columns": " ".join(columns), "frame": frame, "name": asked.name}
    return template.format_map({**places, **own})


def has_columns(host: str, asked: SingleQuestion | SingleBlock) -> bool:
    """Return False for LimeSurvey, whose fields do not have names of our own, and several questions."""
    return host != "limesurvey" or len(asked.questions) == 1


def ethics_text(asked: SingleQuestion | SingleBlock | LinkQuestion, odds: str, belief: int, visits: int = 1) -> str:
    """Return a paragraph for an ethics board, from sentences about the channel and what a belief of 10 % can become.

    ``visits`` draws of one person are counted; more than one where the host knows visits only.
    """
    labels = [question.label.get("en") or min(question.label.items())[1] for question in asked.questions]
    is_one, is_joint = len(labels) == 1, [type(each) for each in asked.asked] == [SingleBlock]
    verb, stored = ("is", "answer") if is_one else ("are", "answers")
    way = _WINDOW
    if isinstance(asked, LinkQuestion):
        passed = ", with what else is in the participant's link" if "pass" in asked.document else ""
        way = _LINK.format(stored=stored, verb=verb, host=urlsplit(asked.then).hostname, passed=passed)
    scope = ", for all of them and for each of them alone" if is_joint else ", for all of them together"
    return _ETHICS.format(
        count="One question" if is_one else f"{len(labels)} questions",
        verb=verb,
        together=", together" if is_joint else "",
        labels=", ".join(f'"{label}"' for label in labels),
        answers=f"the {stored}",
        way=way,
        stored=stored,
        odds=odds,
        epsilon=show_epsilon(visits * asked.epsilon),
        visits=_VISITS.format(visits=visits) if visits > 1 else "",
        scope="" if is_one else scope,
        belief=belief,
        even=", even if that person knows the participant's other answers" if is_joint else "",
    )
