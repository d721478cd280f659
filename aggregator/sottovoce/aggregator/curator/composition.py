"""Sequential composition: the total privacy cost of several releases about one data set.

Two accounts are kept, and the smaller total counts:
    sum    Basic composition: epsilon and delta add up.
    zCDP   rho adds up, and rho-zCDP implies (rho + 2 sqrt(rho ln(1/d)), d)-differential privacy. A pure
           epsilon-private release has rho = epsilon tanh(epsilon/2) at most; Gaussian noise states its own rho.

Questions may be adaptive, that is, depend on earlier answers, and so does the choice of the smaller account. Each
account alone is a valid privacy filter under adaptive questions. To use both, each gets half of the budget's delta: an
outcome that the sum covers is charged to one half, any other outcome to the other half, so that the whole is
(epsilon, delta)-private. A sum of releases with delta 0 uses none of its half.

Parallel composition is never applied: parts of one data set that are chosen by values depend on those values. Parts
that are fixed without looking at a value, such as two files without a person in common, are two data sets, each with
its own budget.

Sources: Dwork et al. 2006 (basic composition); Bun and Steinke 2016 (zCDP, and its conversion); Harrison and
Manurangsi 2025 (tanh); Rogers et al. 2016, Whitehouse et al. 2023 (privacy filters for adaptive questions).
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
    """Total privacy cost of several releases.

    Attributes:
        epsilon: exact for ``SUM``; for ``ZCDP`` rounded up at about the 15th decimal.
        account: account that gave it, ``SUM`` or ``ZCDP``.
        delta: for ``SUM`` the sum of the deltas, for ``ZCDP`` the delta of the conversion.
    """

    epsilon: Fraction
    account: str
    delta: Fraction


def total(charges: Iterable[Charge], delta: Fraction) -> Total | None:
    """Return the smaller of both accounts; None if neither stays within delta.

    Args:
        charges: charges of the releases.
        delta: delta of the whole budget; each account gets half of it.
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
    """Return the rho of a release: the stated one, or epsilon tanh(epsilon/2) if delta is 0 and that is smaller.

    None if no rho is stated and delta is above 0.
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
    """Round up to 15 decimals and add one unit, far more than the rounding errors of 60 digits."""
    return Fraction(value.quantize(_GRAIN, ROUND_CEILING, _PRECISE) + _GRAIN)
