"""Draws whose noise is chosen, for tests that ask what is added to what, and with which rate."""

from sottovoce.shared.exact_noise import ExactNoise


class NoNoise(ExactNoise):
    """Adds nothing, and remembers every rate and variance that it was asked for."""

    def __init__(self):
        super().__init__(bytes)
        self.asked = []

    def discrete_laplace(self, n, d):
        self.asked.append((n, d))
        return 0

    def geometric(self, n, d):
        self.asked.append((n, d))
        return 0

    def discrete_gaussian(self, p, q):
        self.asked.append((p, q))
        return 0
