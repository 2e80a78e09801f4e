"""The search of a broken swarm: which controller to try next, and when to change to it.

For CPython or MicroPython, on a robot or beside the swarm.  Controllers are numbers here:

    search = Search()
    search.tell(fitness, search.present)   # what the swarm gives since the fault struck
    number = search.ask()                  # all robots run this controller for SECONDS
    search.tell(fitness)                   # what that gave; and so on, about ten times
    search.best                            # the controller to go on with

What is believed: controller c gives m_c = MEAN_c + LOADINGS_c z + d_c, with noise of NOISE_c; z
lies around one of CENTRES, what it was in each fault that was simulated, with variances WIDTH; d_c
is what is peculiar to a controller.  The noise in the present fault is one of NOISIER times the
usual one, whichever makes what was told most likely.
"""

from math import exp, log, pi, sqrt

SECONDS = 0.0
PRESENT = 0
MEAN: list[float] = []
LOADINGS: list[list[float]] = []
NOISE: list[float] = []
CENTRES: list[list[float]] = []
WIDTH: list[float] = []
NOISIER: list[float] = []
POINTS: list[float] = []  # of a Gauss-Hermite quadrature, and their weights
WEIGHTS: list[float] = []
PECULIAR = 0.0
CLEAR = 0.0  # standard deviations by which a gain must exceed 0 to be clear
CAREFUL, VERIFY = 0, 1
DOUBT = 0.0
BOUND, NEAR_BOUND = 0.0, 0.0
CANDIDATES, RIVALS = 0, 0
WORTH_DIGITS = 12
NINETY = 0.0


def dot(one: list[float], other: list[float]) -> float:
    """Return the product of two vectors."""
    total = 0.0
    for k in range(len(one)):
        total += one[k] * other[k]
    return total


def argmax(values: list[float]) -> int:
    """Return the place of the largest value, the first of equals."""
    best = 0
    for k in range(1, len(values)):
        if values[k] > values[best]:
            best = k
    return best


def inverse(matrix: list[list[float]]) -> tuple[list[list[float]], float]:
    """Return the inverse of a symmetric positive matrix, and the logarithm of its determinant."""
    n = len(matrix)
    lower = [[0.0] * n for _ in range(n)]
    span = 0.0
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i][j] - dot(lower[i][:j], lower[j][:j])
            if i == j:
                lower[i][i] = sqrt(rest)
                span += log(rest)
            else:
                lower[i][j] = rest / lower[j][j]
    columns = []
    for c in range(n):
        x = [0.0] * n
        for i in range(c, n):
            x[i] = ((1.0 if i == c else 0.0) - dot(lower[i][c:i], x[c:i])) / lower[i][i]
        for i in range(n - 1, -1, -1):
            total = x[i]
            for k in range(i + 1, n):
                total -= lower[k][i] * x[k]
            x[i] = total / lower[i][i]
        columns.append(x)
    return columns, span


class Search:
    """A search from the trials that were told, (number, fitness); ``told`` is all of its state."""

    def __init__(self, present: int = PRESENT, told: list[tuple[int, float]] | None = None) -> None:
        self.present = present
        self.told = list(told or [])
        self.asked: int | None = None
        self._believe()

    def ask(self) -> int:
        """Return the controller to try next; the same until its fitness is told."""
        if self.asked is None:
            self.asked = self._choose()
        return self.asked

    def tell(self, fitness: float, number: int | None = None) -> None:
        """Tell the fitness of one trial: of what was asked, or of a controller by its number."""
        if number is None:
            number = self.ask()
        if number == self.asked:
            self.asked = None
        self.told.append((number, fitness))
        self._believe()

    @property
    def leader(self) -> int:
        """The controller with the highest expected fitness, however uncertain."""
        return argmax(self.mean)

    @property
    def worthwhile(self) -> bool:
        """Whether to change to the leader is expected to pay: whether its gain is clear."""
        gain, deviation = self.ahead(self.leader, self.present)
        return self.leader != self.present and gain > CLEAR * deviation

    @property
    def best(self) -> int:
        """The controller to go on with: the leader if its gain is clear, else the present one."""
        return self.leader if self.worthwhile else self.present

    @property
    def gain(self) -> float:
        """Expected fitness of the leader less that of the present controller."""
        return self.ahead(self.leader, self.present)[0]

    def belief(self, number: int) -> tuple[float, float, float]:
        """Return the expected fitness of a controller, and an interval that holds it with 90 %."""
        mean, half = self.mean[number], NINETY * sqrt(self.variance[number])
        return mean, mean - half, mean + half

    def ahead(self, one: int, other: int) -> tuple[float, float]:
        """Return by how much a controller is ahead of another: mean and standard deviation."""
        if one == other:
            return 0.0, 0.0
        apart = [a - b for a, b in zip(self.shared[one], self.shared[other])]
        variance = dot([dot(row, apart) for row in self.spread], apart)
        return self.mean[one] - self.mean[other], sqrt(variance + self.own[one] + self.own[other])

    def _believe(self) -> None:
        """Set mean, variance, shared, own, noise and spread to what is believed now."""
        trials: dict[int, list[float]] = {}
        for number, fitness in self.told:
            trials[number] = [*trials.get(number, []), fitness]
        rows = sorted(trials)
        counts = [len(trials[row]) for row in rows]
        means = [sum(trials[row]) / len(trials[row]) for row in rows]
        squares = [sum([(one - m) ** 2 for one in trials[row]]) for row, m in zip(rows, means)]
        residual = [m - MEAN[row] for row, m in zip(rows, means)]
        peculiar = PECULIAR * sqrt(sum([noise * noise for noise in NOISE]) / len(NOISE))
        best = None
        for part in sorted(set(NOISIER), key=lambda one: abs(log(one))):
            psi = (part * peculiar) ** 2
            noise = [part * NOISE[row] for row in rows]
            variance = [psi + s * s / n for s, n in zip(noise, counts)]
            found = self._of_faults(rows, residual, variance)
            evidence = found[0]
            for s, n, square in zip(noise, counts, squares):
                evidence -= 0.5 * ((n - 1) * log(2.0 * pi * s * s) + log(n) + square / (s * s))
            if best is None or evidence > best[0]:
                best = (evidence, part, psi, variance, found)
        assert best is not None
        _, part, psi, variance, (_, z, self.spread) = best
        self.mean = [m + dot(loadings, z) for m, loadings in zip(MEAN, LOADINGS)]
        self.shared = [list(loadings) for loadings in LOADINGS]
        self.own = [psi] * len(MEAN)
        self.noise = [part * s for s in NOISE]
        for row, rest, spread in zip(rows, residual, variance):
            kept = psi / spread  # of what was seen beyond z, how much is believed
            self.mean[row] += kept * (rest - dot(LOADINGS[row], z))
            self.shared[row] = [(1.0 - kept) * one for one in self.shared[row]]
            self.own[row] *= 1.0 - kept
        self.follow = [[dot(row, s) for row in self.spread] for s in self.shared]
        self.variance = [dot(f, s) + own for f, s, own in zip(self.follow, self.shared, self.own)]

    def _of_faults(
        self, rows: list[int], residual: list[float], variance: list[float]
    ) -> tuple[float, list[float], list[list[float]]]:
        """Return the evidence of what was seen, and mean and covariance of z, with one noise."""
        k = len(WIDTH)
        precision = [[1.0 / WIDTH[i] if i == j else 0.0 for j in range(k)] for i in range(k)]
        pull = [0.0] * k
        lost = len(rows) * log(2.0 * pi)
        for row, rest, v in zip(rows, residual, variance):
            loadings = LOADINGS[row]
            for i in range(k):
                weighed = loadings[i] / v
                pull[i] += weighed * rest
                line = precision[i]
                for j in range(k):
                    line[j] += weighed * loadings[j]
            lost += rest * rest / v + log(v)
        within, span = inverse(precision)
        lost += span + sum([log(width) for width in WIDTH])
        means, fits = [], []
        for centre in CENTRES:
            pulls = [c / w for c, w in zip(centre, WIDTH)]
            sums = [a + b for a, b in zip(pulls, pull)]
            mean = [dot(line, sums) for line in within]
            means.append(mean)
            fits.append(0.5 * (dot(mean, sums) - dot(pulls, centre)))
        highest = max(fits)
        weights = [exp(fit - highest) for fit in fits]
        total = sum(weights)
        z = [0.0] * k
        for weight, mean in zip(weights, means):
            for i in range(k):
                z[i] += weight / total * mean[i]
        for weight, mean in zip(weights, means):
            share = weight / total
            if share > 1e-12:
                apart = [a - b for a, b in zip(mean, z)]
                for i in range(k):
                    line = within[i]
                    for j in range(k):
                        line[j] += share * apart[i] * apart[j]
        return highest + log(total / len(CENTRES)) - 0.5 * lost, z, within

    def _choose(self) -> int:
        """Return the controller whose trial is worth most."""
        if len(self.told) < CAREFUL:
            candidates = self._promising(CANDIDATES)
            worth = self._knowledge_gradient(candidates, self._promising(RIVALS))
            return candidates[argmax(worth)]
        leader = self.leader
        gain, deviation = self.ahead(leader, self.present)
        testing = (len(self.told) - CAREFUL) % VERIFY == 0
        if testing and leader != self.present and gain < DOUBT * deviation:
            return self._telling(leader, self.present)
        return argmax([m + NEAR_BOUND * sqrt(v) for m, v in zip(self.mean, self.variance)])

    def _promising(self, count: int) -> list[int]:
        """Return the controllers with the highest upper bounds, ascending."""
        bound = [m + BOUND * sqrt(v) for m, v in zip(self.mean, self.variance)]
        return sorted(sorted(range(len(bound)), key=lambda row: -bound[row])[:count])

    def _knowledge_gradient(self, candidates: list[int], rivals: list[int]) -> list[float]:
        """Return how much one trial of each candidate is expected to raise the highest mean."""
        highest = max([self.mean[row] for row in rivals])
        worth = []
        for one in candidates:
            trial = sqrt(self.variance[one] + self.noise[one] ** 2)
            change = [
                (dot(self.follow[one], self.shared[row]) + (self.own[row] if row == one else 0.0))
                / trial
                for row in rivals
            ]
            total = 0.0
            for point, weight in zip(POINTS, WEIGHTS):
                total += weight * max(
                    [self.mean[row] + point * part for row, part in zip(rivals, change)]
                )
            worth.append(round(total - highest, WORTH_DIGITS))
        return worth

    def _telling(self, one: int, other: int) -> int:
        """Return that of two controllers whose trial tells more about which of them is better."""
        both = dot(self.follow[one], self.shared[other])
        taken = [
            (self.variance[row] - both) ** 2 / (self.variance[row] + self.noise[row] ** 2)
            for row in (one, other)
        ]
        return one if taken[0] >= taken[1] else other
