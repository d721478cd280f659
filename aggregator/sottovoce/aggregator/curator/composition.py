"""
What several releases about one data set cost together.

Two accounts are kept, and the smaller one counts:
    sum    epsilon and delta add up.
    zCDP   rho adds up, and rho-zCDP is (rho + 2 sqrt(rho ln(1/d)), d)-private. An epsilon-private release has
           rho = epsilon tanh(epsilon/2) at most; one with Gaussian noise says its own.

Which of them is smaller is found out along the way, and questions may follow from answers. Either account alone is
good for that; for both together each has half of the budget's delta: an outcome that the sum covers is counted in the
one half, any other in the other, so that the whole is (epsilon, delta)-private. Sums of releases with delta 0 need
none of it.

Releases about parts of one data set are never counted as parallel: such parts follow from values. Parts that were
fixed without looking at a value, such as two files without a person in common, are two data sets, each with its own
budget.

Sources: Dwork et al. 2006 (sum); Bun and Steinke 2016 (zCDP, and its epsilon); Harrison and Manurangsi 2025 (tanh);
Rogers et al. 2016, Whitehouse et al. 2023 (budgets under questions that follow from answers).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from sottovoce.aggregator.curator.privacy_cost import Charge

_PRECISE = Context(prec=60)
_GRAIN = Decimal(10) ** -15
SUM, ZCDP = "sum", "zCDP"


@dataclass(frozen=True)
class Total:
    """
    What releases have cost together.

    Attributes:
        epsilon: exact, or rounded up at its 15th decimal.
        account: by which it was counted, ``SUM`` or ``ZCDP``.
        delta: that the account may use.
    """

    epsilon: Fraction
    account: str
    delta: Fraction


def total(charges: Iterable[Charge], delta: Fraction) -> Total | None:
    """
    The smaller of both accounts; None if neither keeps within delta.

    Args:
        charges: of the releases.
        delta: of the whole budget.
    """
    made = list(charges)
    half = delta / 2
    totals = [found for found in (_sum(made, half), _zcdp(made, half)) if found is not None]
    return min(totals, key=lambda each: each.epsilon, default=None)


def _sum(charges: list[Charge], delta: Fraction) -> Total | None:
    spent = sum((charge.delta for charge in charges), Fraction(0))
    if spent > delta:
        return None
    return Total(sum((charge.epsilon for charge in charges), Fraction(0)), SUM, spent)


def _zcdp(charges: list[Charge], delta: Fraction) -> Total | None:
    found = [rho_of(charge) for charge in charges]
    known = [rho for rho in found if rho is not None]
    if delta == 0 or not known or len(known) < len(found):
        return None
    rho = _decimal(sum(known, Fraction(0)))
    root = _PRECISE.sqrt(_PRECISE.multiply(rho, _PRECISE.ln(_decimal(1 / delta))))
    return Total(_up(_PRECISE.add(rho, _PRECISE.multiply(Decimal(2), root))), ZCDP, delta)


def rho_of(charge: Charge) -> Fraction | None:
    """
    The rho of a release: what it says, or what follows from its epsilon if its delta is 0 and that is less.

    None if it says none and its delta is above 0.
    """
    if charge.delta > 0:
        return charge.rho
    power = _PRECISE.exp(_decimal(charge.epsilon))
    tanh = _PRECISE.divide(_PRECISE.subtract(power, Decimal(1)), _PRECISE.add(power, Decimal(1)))
    own = _up(_PRECISE.multiply(_decimal(charge.epsilon), tanh))
    return own if charge.rho is None else min(own, charge.rho)


def _decimal(value: Fraction) -> Decimal:
    return _PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def _up(value: Decimal) -> Fraction:
    """To the next of 15 decimals and one more: far beyond what 60 digits have lost."""
    return Fraction(value.quantize(_GRAIN, ROUND_CEILING, _PRECISE) + _GRAIN)
