"""Speed of regressions of a million reports, beside the same in plain numpy over whole arrays."""

import numpy as np
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Fit, inverse, maximize

from tests.bench.mechanisms import MILLION, best, row

COIN = np.array([[0.75, 0.25], [0.25, 0.75]])
ODDS_3 = (np.ones((4, 4)) + 2 * np.eye(4)) / 6


def many(columns: np.ndarray, reports: np.ndarray, channel: np.ndarray) -> np.ndarray:
    """The coefficients by Newton's method: ``columns`` (n, p), ``reports`` (n,), ``channel`` (reports, categories)."""
    k, p = channel.shape[1], columns.shape[1]
    beta, seen = np.zeros((k - 1, p)), channel[reports]
    for _ in range(50):
        odds = np.exp(np.column_stack([np.zeros(len(columns)), columns @ beta.T]))
        truth = odds / odds.sum(axis=1, keepdims=True)
        given = truth * seen
        said = given.sum(axis=1, keepdims=True)
        given /= said
        np.log(said).sum()
        gradient = ((given - truth)[:, 1:].T @ columns).ravel()
        information = np.zeros((k - 1, p, k - 1, p))
        for one in range(1, k):
            for other in range(one, k):
                weight = given[:, one] * given[:, other] - truth[:, one] * truth[:, other]
                if one == other:
                    weight += truth[:, one] - given[:, one]
                information[one - 1, :, other - 1] = (columns * weight[:, None]).T @ columns
                information[other - 1, :, one - 1] = information[one - 1, :, other - 1].T
        step = np.linalg.solve(information.reshape(len(gradient), -1), gradient)
        beta += step.reshape(beta.shape)
        if step @ gradient < 1e-12:
            break
    return beta.ravel()


def yes_no(columns: np.ndarray, reports: np.ndarray) -> np.ndarray:
    """The coefficients for yes/no reports (n,) of a coin flip on columns (n, p), by Fisher scoring."""
    beta = np.zeros(columns.shape[1])
    for _ in range(50):
        truth = 1 / (1 + np.exp(-columns @ beta))
        said = 0.25 + 0.5 * truth
        slope = 0.5 * truth * (1 - truth)
        gradient = columns.T @ ((reports - said) * slope / (said * (1 - said)))
        information = (columns * (slope**2 / (said * (1 - said)))[:, None]).T @ columns
        np.where(reports == 1, np.log(said), np.log(1 - said)).sum()
        step = np.linalg.solve(information, gradient)
        beta += step
        if step @ gradient < 1e-12:
            break
    return beta


def figures() -> None:
    """All of it; both sides in one run, since the machine's load decides how long each takes."""
    generator = np.random.Generator(np.random.PCG64(7))
    columns = np.column_stack([np.ones(MILLION), generator.normal(size=(MILLION, 2))])
    by_column = np.ascontiguousarray(columns.T)
    for channel, slopes in ((COIN, [[-0.5, 0.5, -0.3]]), (ODDS_3, [[0.2, 0.4, 0.1], [0.1, -0.3, 0.2], [-0.4, 0, 0.5]])):
        k = len(channel)
        odds = np.exp(np.column_stack([np.zeros(MILLION), columns @ np.array(slopes).T]))
        truth = (np.cumsum(odds, axis=1) < generator.random((MILLION, 1)) * odds.sum(axis=1, keepdims=True)).sum(axis=1)
        reports = (np.cumsum(channel.T[truth], axis=1) < generator.random((MILLION, 1))).sum(axis=1)
        model = Multinomial(by_column, reports, channel)

        def ours(model: Multinomial = model) -> Fit:
            fit = maximize(model)
            inverse(fit.information)
            return fit

        def plain(reports: np.ndarray = reports, k: int = k, channel: np.ndarray = channel) -> np.ndarray:
            return yes_no(columns, reports) if k == 2 else many(columns, reports, channel)

        apart = np.abs(ours().theta - plain()).max()
        seconds, limit = best(ours, 5), best(plain, 3)
        row(f"logit, {k} categories, a million reports, 3 columns: numpy", limit, "s", "")
        row(f"logit, {k} categories, a million reports, 3 columns: ours", seconds, "s", "")
        row(f"  ours by numpy's; coefficients {apart:.0e} apart", seconds / limit, "x", "<= .6")


if __name__ == "__main__":
    figures()
