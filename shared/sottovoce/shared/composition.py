"""
Accounts of many releases that allow a small delta, beside the plain sum.

Optimal     The worst k releases of epsilon each are k randomized responses with a = e^epsilon / (1 + e^epsilon). Their
            curve is exact: delta(E) = sum over l of max(P_l - e^E Q_l, 0), P = Bin(k, a), Q = Bin(k, 1 - a), and
            P_l / Q_l = e^((2l - k) epsilon). Between two such ratios the set of terms is fixed and delta is linear in
            e^E, so that the least E for a delta has a closed form too. Computed with 60 decimal digits.
Comparison  Dwork, Rothblum and Vadhan: sqrt(2 k ln(1/delta)) epsilon + k epsilon (e^epsilon - 1). Known as "advanced",
            and larger than the plain sum for most surveys; then it is not shown.
Use         Next to none for what leaves a device: under 45 answers at ln 3, 30 at ln 2 or 15 at 0.1 even the optimal
            account gains less than 1 % on the plain sum (delta 10^-6). The ledger is the plain sum.
zCDP        Gaussian noise has rho = D^2 / (2 sigma^2); randomized response has exactly epsilon tanh(epsilon / 2), less
            than the epsilon^2 / 2 that any mechanism has. rho adds up, and gives rho + 2 sqrt(rho ln(1/delta)).
Gaussian    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu = D sqrt(k) / sigma: exact,
            and to be preferred to zCDP. No device adds Gaussian noise; both serve curators.
Sources     Kairouz, Oh and Viswanath 2017; Dwork, Rothblum and Vadhan 2010; Bun and Steinke 2016; Balle and Wang 2018.
"""

import math
from decimal import Context, Decimal, localcontext
from statistics import NormalDist

from sottovoce.shared.accounting import check_delta, check_epsilon, check_whole

MAX_RELEASES = 10_000

_DIGITS = 60
_NORMAL = NormalDist()


def optimal_delta(epsilon: float, releases: int, total: float) -> float:
    """
    The least delta with which so many releases of ``epsilon`` each are ``total``-private.

    Args:
        epsilon: of each release by itself.
        releases: how many.
        total: epsilon of all together.

    Raises:
        ValueError: an epsilon or the number of releases is out of range.
    """
    check_epsilon(epsilon)
    check_epsilon(total)
    check_whole(releases, 1, MAX_RELEASES, "the number of releases")
    with localcontext(Context(prec=_DIGITS)):
        limit = Decimal(total).exp()
        return float(sum((max(p - limit * q, Decimal(0)) for p, q in _terms(epsilon, releases)), Decimal(0)))


def optimal_epsilon(epsilon: float, releases: int, delta: float) -> float:
    """
    The least E such that so many releases of ``epsilon`` each are (E, delta)-private; never above their plain sum.

    Args:
        epsilon: of each release by itself.
        releases: how many.
        delta: of all together.

    Raises:
        ValueError: epsilon, delta or the number of releases is out of range.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_whole(releases, 1, MAX_RELEASES, "the number of releases")
    with localcontext(Context(prec=_DIGITS)):
        allowed, p_sum, q_sum = Decimal(delta), Decimal(0), Decimal(0)
        for p, q in _terms(epsilon, releases):
            # At the ratio of this term all terms before it count. Once they are too much, E lies above the ratio.
            if p_sum - p / q * q_sum > allowed:
                break
            p_sum, q_sum = p_sum + p, q_sum + q
        exact = ((p_sum - allowed) / q_sum).ln() if p_sum > allowed else Decimal(0)
        return min(max(0.0, math.nextafter(float(exact), math.inf)), releases * epsilon)


def advanced_epsilon(epsilon: float, releases: int, delta: float) -> float | None:
    """
    Dwork, Rothblum and Vadhan's figure, or None where the plain sum is smaller and this one would only mislead.

    Args:
        epsilon: of each release by itself.
        releases: how many.
        delta: of all together.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_whole(releases, 1, MAX_RELEASES, "the number of releases")
    if epsilon > 1:  # it exceeds k epsilon (e - 1)
        return None
    figure = math.sqrt(2 * releases * math.log(1 / delta)) * epsilon + releases * epsilon * math.expm1(epsilon)
    return figure if figure < releases * epsilon else None


def gaussian_rho(sensitivity: float, sigma: float) -> float:
    """The zCDP of Gaussian noise with standard deviation ``sigma`` on a figure of this L2 sensitivity."""
    if not (0 <= sensitivity < math.inf and 0 < sigma < math.inf):
        raise ValueError("sensitivity must be at least 0 and sigma above 0")
    return sensitivity**2 / (2 * sigma**2)


def response_rho(epsilon: float) -> float:
    """The zCDP of randomized response, exactly; it covers every mechanism of this epsilon."""
    check_epsilon(epsilon)
    return epsilon * math.tanh(epsilon / 2)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The epsilon that rho-zCDP gives with this delta."""
    check_epsilon(rho)
    check_delta(delta)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """
    The least epsilon of Gaussian noise, exactly, to 12 digits and rounded up.

    Args:
        mu: L2 sensitivity times the square root of the number of releases, over sigma.
        delta: 0 < delta < 1.
    """
    check_delta(delta)
    if not 0 < mu <= 30:
        raise ValueError("mu must lie between 0 and 30")
    low, high = 0.0, zcdp_epsilon(mu**2 / 2, delta)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if _gaussian_delta(mu, middle) <= delta else (middle, high)
    return high


def _gaussian_delta(mu: float, epsilon: float) -> float:
    return _NORMAL.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * _NORMAL.cdf(-mu / 2 - epsilon / mu)


def _terms(epsilon: float, releases: int) -> "list[tuple[Decimal, Decimal]]":
    """(P_l, Q_l) from the largest ratio to the smallest; in the caller's decimal context."""
    odds = Decimal(epsilon).exp()
    q = 1 / (1 + odds) ** releases
    p = odds**releases * q
    terms = []
    for count in range(releases + 1):
        ways = (p, q)
        terms.append(ways)
        # One answer fewer on the likelier side: C(k, l) grows by (k - l) / (l + 1).
        step = Decimal(releases - count) / (count + 1)
        p, q = p * step / odds, q * step * odds
    return terms
