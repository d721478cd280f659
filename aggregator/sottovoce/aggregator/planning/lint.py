"""Lint a survey: its privacy cost, warnings and suggestions for its author, as text and as JSON."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, zip_longest
from typing import Any

from sottovoce.aggregator.analysis.careless_results import anchors_of, is_corrected
from sottovoce.aggregator.analysis.mixtures.mixture import designs_in_words
from sottovoce.aggregator.estimators.careless.anchors import YES
from sottovoce.aggregator.i18n.translator import ENGLISH
from sottovoce.aggregator.planning.block_choice import block_hint, joint_words
from sottovoce.aggregator.planning.question_channels import measure_of
from sottovoce.aggregator.planning.sample_size import thin_cells
from sottovoce.aggregator.planning.traffic_analysis import HOUR, is_paired, items_that_show_time, spread
from sottovoce.aggregator.surveys.privacy_limit import remedies
from sottovoce.shared.accounting import BELIEF_BEFORE, NEARLY_SURE, percent_after
from sottovoce.shared.answers import random_answers
from sottovoce.shared.arms.arms import Block, flat_items, samples, share_asked
from sottovoce.shared.by_hand.protection import hidden_by_facts
from sottovoce.shared.languages import languages_of, missing_texts
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.order.orders import ordered_lists
from sottovoce.shared.parse_item import planned_comparisons
from sottovoce.shared.rational import show_epsilon, show_odds
from sottovoce.shared.spec import Item, Question, Survey
from sottovoce.shared.survey_keys import first_read_by

LETTERS_OF_A_CODE = 2
"""Letters in a row that say nothing by themselves."""

# Types, mechanisms and keys within a key.
MORE_WORDS = {
    "0.2.0": ["optimal_unary", "date"],
    "0.3.0": ["delete_on"],
    "0.4.0": ["block", "links", "send_at_seconds", "screen_out"],
    "0.5.0": ["quick_exit address", "design"],
}
SINCE = {release: [*first_read_by(release), *words] for release, words in MORE_WORDS.items()}
"""Words of a survey file added after the first format, by the release that first read them, oldest first."""

CARELESS = 0.1
SHARE = 0.1


def anchor_words(survey: Survey) -> Iterator[str]:
    """Yield a sentence on what the anchors of a survey cost, and what they would if they were public.

    Standard errors of corrected shares are given as multiples of the uncorrected ones. The maths is in
    ``estimators.careless``: Var(corrected) = (v + g^2 (Var(lambda) - 2 s)) / (1 - lambda)^2 and Var(uncorrected) = v
    for each report, for a careful share of ``SHARE`` and a careless one of ``CARELESS``.
    """
    found = _errors(survey, public=False)
    if found is None:
        return
    names = ", ".join(anchor.name for anchor in anchors_of(survey))
    words = (
        f"shares are corrected for careless answers by {names}; where {CARELESS:.0%} of the people are careless, their "
        f"standard errors are {_times(found)} those of uncorrected shares"
    )
    public = _errors(survey, public=True)
    cheaper = any(anchor.mechanism is not None for anchor in anchors_of(survey)) and public is not None
    words = f"{words}; with public anchors, which cost no epsilon, {_times(public)}" if cheaper and public else words
    left = [each.name for each in survey.questions if each.known_share is None and not is_corrected(survey, each)]
    yield f"{words}; not corrected: {', '.join(left)}" if left else words


def order_hint(survey: Survey) -> Iterator[str]:
    """Yield a suggestion where the correction supposes that careless people choose evenly, and the order is fixed."""
    ordered = {each.item for each in ordered_lists(survey)}
    fixed = [
        item.name
        for index, item in enumerate(survey.items)
        if index not in ordered
        and any(each.kind.truth == "option" and is_corrected(survey, each) for each in item.questions)
        and not item.rows
    ]
    if anchors_of(survey) and fixed:
        yield (
            f"/questions: '{fixed[0]}' is corrected by anchors as if careless people chose evenly among its options; "
            "order: random lets no option be the first for all"
        )


def _times(found: tuple[float, float]) -> str:
    low, high = (f"{each:.1f}" for each in found)
    return f"{low} times" if low == high else f"{low} to {high} times"


def _errors(survey: Survey, *, public: bool) -> tuple[float, float] | None:
    """Return the smallest and largest factor over the questions; None without any that is corrected."""
    corrected = [each for each in survey.questions if is_corrected(survey, each)]
    if not anchors_of(survey) or not corrected:
        return None
    of_careless = _variance_of_careless(anchors_of(survey), public=public)
    found = [_factor(each, of_careless) for each in corrected]
    return min(found), max(found)


def _factor(question: Question, of_careless: float) -> float:
    at_random = float(random_answers(question.domain, question.absent)[YES])
    own = measure_of(question).variance((1 - CARELESS) * SHARE + CARELESS * at_random)
    apart = (at_random - SHARE) ** 2 * (of_careless - 2 * CARELESS * (1 - CARELESS))
    return math.sqrt((own + apart) / own) / (1 - CARELESS)


def _variance_of_careless(anchors: Sequence[Question], *, public: bool) -> float:
    shared = CARELESS * (1 - CARELESS)
    precision = 0.0
    for each in anchors:
        known, at_random = float(each.known_share or 0), float(random_answers(each.domain, each.absent)[YES])
        yes = known + CARELESS * (at_random - known)
        variance = yes * (1 - yes) if public else measure_of(each).variance(yes)
        precision += 1 / (variance / (at_random - known) ** 2 - shared)
    return 1 / precision + shared


def describe_arms(survey: Survey) -> list[str]:
    """Return a line with the arms and their expected shares; none without arms."""
    if not survey.arms:
        return []
    whole = sum(arm.weight for arm in survey.arms)
    shares = ", ".join(f"{arm.name} {arm.weight / whole:.0%}" for arm in survey.arms)
    kept = "anew in each wave" if "arms_per_wave" in survey.document else "once for a person"
    return [f"arms: {shares}, drawn by the device at Begin, {kept}; a whole report costs as much as in the dearest arm"]


def arm_warnings(survey: Survey) -> list[str]:
    """Return warnings about an arm that no item names: people in it see only what everybody sees."""
    named = {name for item in survey.items for name in item.arms}
    return [
        f"/arms/{index}: no question or note is asked in arm {arm.name} and not in all; is it a control?"
        for index, arm in enumerate(survey.arms)
        if arm.name not in named
    ]


def _item_pointers(survey: Survey) -> list[str]:
    """Return the JSON pointer of each item in the survey file, where a block's items stand within the block."""
    return [
        f"/questions/{index}{inner}"
        for index, entry in enumerate(survey.document["questions"])
        for inner in ([f"/items/{n}" for n in range(len(entry["items"]))] if "block" in entry else [""])
    ]


def arm_suggestions(survey: Survey) -> list[str]:
    """Return notes about questions of two arms that differ in wording, which then is a part of the difference."""
    places = {item.name: place for place, item in zip(_item_pointers(survey), survey.items, strict=True)}
    return [
        f"{places[other.name]}: is worded differently than {one.name} in another arm; a difference between "
        "the arms is then one of wording, too"
        for one, other in _counterparts(survey)
        if not _is_same_wording(one, other)
    ]


def _counterparts(survey: Survey) -> Iterator[tuple[Item, Item]]:
    """Yield questions of one type that stand at the same place among those of two arms alone."""
    own = [
        [item for item in survey.items if item.questions and item.is_in(arm.name) and item.arms] for arm in survey.arms
    ]
    seen = set()
    for first, second in combinations(own, 2):
        for one, other in zip_longest(first, second):
            if one and other and one is not other and one.type == other.type and (one.name, other.name) not in seen:
                seen.add((one.name, other.name))
                yield one, other


def _is_same_wording(one: Item, other: Item) -> bool:
    """Return True if each text equals the other one, or continues it, such as with a sentence about protection."""
    return all(
        text.startswith(other.label.get(tag, text)) or other.label.get(tag, text).startswith(text)
        for tag, text in one.label.items()
    )


def oldest_release(survey: Survey) -> tuple[str, list[str]] | None:
    """Return the oldest release that can answer the survey, and the words that need it; None if every release can."""
    used = set(_words(survey.document))
    for release, words in reversed(SINCE.items()):
        if needing := [word for word in words if word in used]:
            return release, needing
    return None


def _words(document: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a survey's document
    """Yield keys, types and mechanism names of a survey document."""
    # Names chosen by the author are left out, because they may coincide with any of these words.
    yield from document
    if isinstance(document.get("quick_exit"), str):
        yield "quick_exit address"
    yield from (key for each in document.get("analysis_plan", ()) for key in each)
    yield from (*document["retention"], *document["privacy"], *document.get("after", {}))
    for item in flat_items(document):
        yield from (*item, item.get("type", ""))
        asked = item.get("of", item)
        yield from (asked.get("type", ""), asked.get("mechanism", {}).get("name", ""))


MANY = 8
"""Number of missing texts to list one by one."""

DAY = 24
"""Recommended hours of random sending delay for surveys with few people."""

FEW = 10
"""Smallest average number of new answers to a question per snapshot; fewer would reveal much about each of them."""


def findings(survey: Survey, spoken: Collection[str]) -> dict[str, Any]:
    """Return all findings for programs; ``spoken`` are the languages of the form's own sentences.

    They are costs, precision of joint tables, missing texts by language, warnings, suggestions, and the survey in
    canonical form.
    """
    return {
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
        "questions": [
            {
                "name": question.name,
                "type": question.type,
                "public": question.mechanism is None,
                "epsilon": question.epsilon,
            }
            for question in survey.questions
        ],
        "oldest_release": needed[0] if (needed := oldest_release(survey)) else None,
        "joint": [*joint_words(survey), *anchor_words(survey)],
        "languages": languages_of(survey),
        "missing_texts": missing_texts(survey),
        "warnings": warnings(survey, spoken),
        "suggestions": suggestions(survey),
        "document": survey.document,
    }


def describe(survey: Survey) -> list[str]:
    """Describe the privacy cost of the survey, in a line for each question and lines for the whole."""
    lines = [f"{survey.name}, revision {survey.revision}, digest {survey.digest}"]
    width = max(len(question.name) for question in survey.questions)
    for question in survey.questions:
        how = f"{_how(question)}{_no_answer(question, survey.conditional)}"
        lines.append(f"  {question.name:<{width}}  {question.type:<15}  {how}")
    lines += [f"  {_describe_block(survey, block)}" for block in survey.blocks]
    designs = designs_in_words(survey, ENGLISH.words)
    lines += [f"  {words}" for words in (*describe_arms(survey), *_describe_samples(survey), *designs)]
    if survey.cohort is not None and survey.release_batch > 1:
        cohorts, batch = len(survey.questions[survey.cohort].options), survey.release_batch
        lines.append(
            f"  while the survey is open, about {round(cohorts * (batch - 1) / 2):,} reports are not shown yet, up to "
            f"{batch - 1:,} of each of {cohorts} cohorts"
        )
    if survey.own_coin:
        lines.append("  respondents toss a coin or a die themselves, and the device adds nothing")
    if needed := oldest_release(survey):
        lines.append(f"  answered by programs of release {needed[0]} or later, for it has {', '.join(needed[1])}")
    lines += [f"  when it is closed: {words}" for words in (*joint_words(survey), *anchor_words(survey))]
    lines.append(f"  texts in {', '.join(languages_of(survey))}")
    lines.append(f"  a whole report spends epsilon {show_epsilon(survey.epsilon)}")
    if len(survey.waves) > 1:
        times = len(survey.waves)
        total = show_epsilon(survey.epsilon_of_memo + times * survey.epsilon_of_wave)
        lines.append(f"  in {times} waves, {total} for a person who answers in all of them")
    return lines


def _how(question: Question) -> str:
    if question.mechanism is None:
        return "public, sent as it is" + (", divides respondents into cohorts" if "cohort" in question.marks else "")
    mechanism = question.by_fact
    if mechanism is None:
        return f"{describe_mechanism(question.mechanism)}, epsilon {show_epsilon(question.epsilon)}"
    error = f", standard error {mechanism.std_error}" if mechanism.std_error else ""
    die = "" if mechanism.is_crosswise else f", by a die with probability {mechanism.truth}"
    return (
        f"{mechanism.known_as}{die}: the person's own fact hides the answer (share {mechanism.share}{error}) and the "
        f"device draws nothing; epsilon {show_epsilon(mechanism.epsilon)} as long as no one who sees the report knows "
        "the fact"
    )


def _describe_block(survey: Survey, block: Block) -> str:
    """Describe a block by its odds, the odds of one question for people who know the others never left out."""
    names = ", ".join(survey.questions[index].name for index in block.questions)
    odds = block.mechanism.odds
    alone = [own / other for own, other in map(block.mechanism.marginal, range(len(block.questions)))]
    return (
        f"block {block.name}: {names} are randomized together, epsilon {show_epsilon(block.mechanism.epsilon)} once; "
        f"the odds of one answer are at most {show_odds(odds)}:1 for people who know the others, and "
        f"{show_odds(max(alone))}:1 if nothing else is known"
    )


def _describe_samples(survey: Survey) -> Iterator[str]:
    for index in range(len(survey.places_by_arm)):
        arm = f" of arm {survey.arms[index].name}" if survey.arms else ""
        for sample in samples(survey, index):
            asked, private = sample.size, len(sample.units)
            names = ", ".join(survey.questions[unit[0]].name for unit in sample.units)
            whole = f"{private} private questions" if survey.ask else f"{private} questions {names}"
            yield (
                f"each respondent{arm} is asked {asked} of the {whole}, drawn by the device: about "
                f"{asked / private:.0%} of the reports answer each of them; a pair of them, "
                f"{asked * (asked - 1) / (private * (private - 1)):.0%}"
            )


def _no_answer(question: Question, hidden: frozenset[str]) -> str:
    if question.absent is None:
        return ""
    how = "a category of its own" if question.domain.absent else f"sent as {question.answer(question.absent)}"
    return f", {'hidden from some, ' if question.name in hidden else ''}no answer is {how}"


def describe_mechanism(mechanism: Mechanism) -> str:
    """Return a mechanism's name, its parameters (the size of a table), and its name in textbooks."""
    numbers = []
    for key, value in mechanism.dump().items():
        if isinstance(value, dict):
            value = ", ".join(str(number) for name, number in value.items() if name != "name")  # noqa: PLW2901
        if isinstance(value, list):
            value = f"{len(value)} x {len(value[0])}" if isinstance(value[0], list) else len(value)  # noqa: PLW2901
        if key != "name":
            numbers.append(f"{key} {value}")
    known = f", {mechanism.known_as}" if mechanism.known_as else ""
    return f"{mechanism.name} ({', '.join(numbers)}){known}"


def warnings(survey: Survey, spoken: Collection[str]) -> list[str]:
    """Return warnings about choices that are allowed but seldom wise; ``spoken`` as for ``findings``."""
    found = arm_warnings(survey)
    if survey.release_batch == 1:
        found.append("/privacy/release_batch: results move with every single report")
    if survey.is_sampled and survey.release_batch * min(share_asked(survey, index) for index in survey.private) < FEW:
        found.append(
            f"/privacy/release_batch: of {survey.release_batch} new reports, fewer than {FEW} on average answer a "
            "given question, since each person is asked few of them"
        )
    if is_paired(survey) and survey.send_within_hours:
        found.append(
            f"{_ends(survey)}: grave: under access: blind devices wait before they send, but not in the last five "
            "minutes, and this is open so briefly that the server's operator can tell which report is whose; leave it "
            "open longer"
        )
    elif is_paired(survey):
        found.append(
            "/privacy/send_within_hours: grave: under access: blind the report follows its invitation in one visit, "
            "and the server's operator can tell which is whose; let devices wait, send_within_hours: 24, or ask in "
            "waves"
        )
    pointers = _item_pointers(survey)
    for index in items_that_show_time(survey):
        key = "visible_if" if survey.items[index].visible_if else "any_of"
        found.append(
            f"{pointers[index]}/{key}: depends on a private answer, and the time a person takes shows how many "
            "questions were asked, so it can hint at that answer; let devices wait, send_within_hours: 24, "
            "or send at set moments, send_at_seconds: 180, before which most people are ready"
        )
    if survey.epsilon >= NEARLY_SURE:
        found.append(
            f"a whole report spends epsilon {show_epsilon(survey.epsilon)}: who thought it {100 * BELIEF_BEFORE:.0f}% "
            f"likely that a thing is true of a person may think it at most {percent_after(survey.epsilon)}% likely "
            f"after it; what would lower it: {'; or '.join(remedies(survey, NEARLY_SURE))}"
        )
    if all(question.mechanism is None for question in survey.questions):
        found.append("every question is public; nothing is randomized")
    found += [*_known_facts(survey), *_unlike_groups(survey), *_telling_name(survey), *_thin_cells(survey)]
    return [*found, *_language_warnings(survey, spoken)]


def _known_facts(survey: Survey) -> Iterator[str]:
    """Yield a warning where people with a personal link have answers that a fact of their own hides."""
    by_fact = hidden_by_facts(survey)
    if by_fact and survey.asks_for_invitation:
        yield (
            f"/access: grave: '{by_fact[0].name}' is hidden by a fact of the person's own, and links are personal: "
            "people who know the invited also know their facts, and so their answers; use access: open, or let the "
            "device randomize"
        )


def _unlike_groups(survey: Survey) -> Iterator[str]:
    """Yield a warning where the two groups of a design are asked in unlike words, which no estimate shows."""
    labels = {question.name: question.label for question in survey.questions}
    for place, each in enumerate(planned_comparisons(survey)):
        if each.design and each.against and labels[each.question] != labels[each.against]:
            yield (
                f"/analysis_plan/{place}: grave: {each.design} takes '{each.question}' and '{each.against}' for one "
                "question, and their labels differ; give both the same words"
            )


def _telling_name(survey: Survey) -> Iterator[str]:
    if survey.quick_exit and is_telling(survey.name):
        yield (
            "/name: is in the address, which stays in the browser's list of visited pages after a quick exit; choose "
            "one that tells nothing, such as survey-k7f3"
        )


def is_telling(name: str) -> bool:
    """Return True if a survey's name contains a word, other than ``survey``, that others may read in the address."""
    return any(len(word) > LETTERS_OF_A_CODE and word != "survey" for word in re.findall("[a-z]+", name))


def _ends(survey: Survey) -> str:
    """Return the JSON pointer of the closing time of the wave with the shortest sending window."""
    if len(survey.waves) == 1:
        return "/closes"
    spreads = [spread(survey.send_within_hours, [wave]) for wave in survey.waves]
    return f"/waves/{spreads.index(min(spreads))}/closes"


def _thin_cells(survey: Survey) -> Iterator[str]:
    asked = [(question, item) for item in survey.items for question in item.questions]
    thin = thin_cells(asked, [arm.name for arm in survey.arms], None)
    if thin is not None:
        place = _item_pointers(survey)[survey.items.index(asked[thin.widest][1])]
        yield (
            f"{place}: the public answers have {thin.cells:,} combinations, and of {thin.people} people "
            "many are alone in one and found by it; ask coarser ones, of which this one would help most, or fewer, or "
            "randomize one of them; sottovoce results export --release-epsilon publishes their tables with noise"
        )


TOPICS = re.compile(
    r"violen|violê|violé|violad|violaci|rape|hit you|harass|harcèl|acoso|assédi|abus|sexual|drug|drog|sexuel|gewalt|"
    r"geschlagen|belästig|missbrauch|عنف|تحرش|اغتصاب|جنسي|مخدر|हिंसा|बलात्कार|यौन|नशी|暴力|骚扰|强奸|性侵|毒品"
)
"""Beginnings of words for what people may be watched for while they answer, in the languages of the form."""


def _quick_exit(survey: Survey) -> Iterator[str]:
    texts = (text for label in (survey.title, *(item.label for item in survey.items)) for text in label.values())
    if not survey.quick_exit and any(TOPICS.search(text.casefold()) for text in texts):
        yield (
            "/quick_exit: true is recommended; the survey seems to be on violence, harassment, drugs or sexuality, and "
            "a button on every step then lets people leave at once who are watched by others"
        )


def _kiosk(survey: Survey) -> Iterator[str]:
    if "kiosk" in survey.document and not survey.asks_for_token:
        yield (
            "/kiosk: nothing can tell whether a person answers twice on such devices; with access: token each code on "
            "a card lets one report in"
        )


def suggestions(survey: Survey) -> list[str]:
    """Return suggestions that would help respondents."""
    found = [*_quick_exit(survey), *_kiosk(survey), *arm_suggestions(survey)]
    if "researcher" not in survey.document:
        found.append("/researcher: people are shown first who asks; name the researcher, and where they can be reached")
    if any(_is_bare(question) for question in survey.questions):
        found.append(
            "/report_labels: neutral is recommended; a receipt then says “Answer A” instead of a bare “Yes”, which "
            "may be read as an admission"
        )
    if survey.is_blind and 0 < survey.send_within_hours < DAY:
        found.append(
            "/privacy/send_within_hours: with fewer than 1,000 invitations, 24 hours or more; of 100 people a watcher "
            "pairs 39 in 100 reports rightly that are sent within an hour, and 5 within 24"
        )
    if survey.is_blind and not is_paired(survey):
        seconds = spread(survey.send_within_hours, survey.waves)
        if seconds < HOUR * min(survey.send_within_hours, DAY):
            found.append(
                f"{_ends(survey)}: devices send five minutes before this ends at the latest, {seconds / HOUR:.1f} "
                "hours or less after their invitation; with fewer than 1,000 invitations, leave it open for a day or "
                "more"
            )
    found += [*block_hint(survey), *order_hint(survey)]
    for pointer, item in zip(_item_pointers(survey), survey.items, strict=True):
        if not survey.own_coin and item.questions and _must_be_answered(item.questions[0]):
            key = "absent_category: true" if item.questions[0].kind.takes_category else "when_absent"
            found.append(
                f"{pointer}{'/of' if item.rows else ''}: people cannot decline; {key} offers “Prefer not to say”"
            )
    return found


def _must_be_answered(question: Question) -> bool:
    if question.mechanism is None or question.by_fact:
        return False
    return question.mechanism.waves == 1 and question.absent is None


def _is_bare(question: Question) -> bool:
    """Return True if receipts show the randomized report as a bare yes or no, which may be read as the answer."""
    private = question.mechanism is not None and not question.by_fact
    return question.kind.truth == "yes_no" and private and not question.neutral


def _language_warnings(survey: Survey, spoken: Collection[str]) -> list[str]:
    """Return warnings about texts that respondents will see in another language than the rest."""
    found = []
    main_tags = {tag.split("-")[0] for tag in spoken}
    for tag, missing in missing_texts(survey).items():
        if "/title" in missing:
            found.append(f"{tag}: the survey has no title in this language, so the form does not offer it")
        elif missing:
            shown = ", ".join(missing[:MANY]) + (f" and {len(missing) - MANY} more" if len(missing) > MANY else "")
            found.append(f"{tag}: shown in another language: {shown}")
        if tag.split("-")[0] not in main_tags:
            found.append(f"{tag}: the form's own sentences are not in this language")
    return found
