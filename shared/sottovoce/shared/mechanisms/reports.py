"""The closed list of what a report can be. A mechanism names its kind; what a report means to people follows from that.

Each kind has one sentence in every language (``odds_<kind>`` in the clients' catalogues), filled with the numbers that
``explain`` gives, and one way of putting a reported value into words. A mechanism of a kind that is here already needs
no word of its own.
"""

REPORT_KINDS: dict[str, frozenset[str]] = {
    "yes_no": frozenset({"yes", "no"}),
    "option": frozenset({"own", "other"}),
    "waves": frozenset({"yes", "no", "waves"}),
    "set": frozenset({"size", "options", "held", "other"}),
    "own_mark": frozenset({"marks", "own", "other"}),
    "drawn_option": frozenset({"yes", "no"}),
    "bits": frozenset({"yes", "no"}),
    "end": frozenset({"yes", "no"}),
    "drawn_end": frozenset({"coordinates", "yes", "no"}),
    "mark": frozenset({"marks", "most"}),
    "range": frozenset({"ranges", "beyond", "window", "near"}),
    "number": frozenset({"exact"}),
}
"""
The names of the numbers in each kind's sentence.

    yes_no, waves   the answer yes or no: of one report, or of each wave's, of which the device remembers a part
    option          one of the options
    set, bits       a set of the options: of a fixed size, or each option in it or not by itself
    drawn_option    one option, ``2 * option + bit``: whether it was chosen
    mark, own_mark  one of many marks: each for any value, or each for many options
    end, drawn_end  the low or the high end of a number, or of one of several: ``2 * coordinate + end``
    range           a stretch of the numbers, which may lie beyond their ends
    number          a number on the grid
"""
