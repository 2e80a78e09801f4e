"""From the library's fitness to a short list, a prior and a portfolio."""

from dataclasses import fields, replace

import numpy as np

from qed.recovery.search.gaussian import Prior
from qed.recovery.search.strategies import Known

FACTORS = 24  # principal directions of a prior, at most
FINE = 16  # directions that trials of few controllers are smoothed with
NEAR = 0.1  # how far a fault lies from the nearest simulated one; all of them lie 1 apart
LEVEL = 1.0  # of a trial's noise: how far all fitness may be shifted together
DIGITS = 6  # of fitness that chooses: machines whose last bits differ choose the same
LEAST_NOISY = 0.2  # of the mean noise: no fault is believed to have less
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # of how noisy trials are in the faults
ROUGH = 6  # the same for a single trial of every controller


def smoothed(fitness: np.ndarray, factors: int = ROUGH) -> np.ndarray:
    """Return fitness (faults, n) of few trials, with only what its first directions explain.

    Controllers that behave alike are alike in all faults, so each lends the others its trials.
    """
    mean = fitness.mean(0)
    left, sizes, right = np.linalg.svd(fitness - mean, full_matrices=False)
    kept = min(factors, len(sizes))
    # The remaining directions are noise; so much of it is in the first ones, too.
    noise = float(np.mean(sizes[kept:] ** 2)) if kept < len(sizes) else 0.0
    shrunk = sizes[:kept] * np.maximum(1.0 - noise / np.maximum(sizes[:kept] ** 2, 1e-30), 0.0)
    found: np.ndarray = mean + (left[:, :kept] * shrunk) @ right[:kept]
    return found


def shortlist(fitness: np.ndarray, count: int, always: np.ndarray) -> np.ndarray:
    """Return so many controllers (ascending): those with the best rank in any row of fitness.

    ``fitness`` is (faults, n); ``always`` names controllers that are taken whatever their rank.
    """
    controllers = fitness.shape[1]
    ranks = np.argsort(np.argsort(-fitness.round(DIGITS), axis=1, kind="stable"), axis=1)
    best = ranks.min(0)
    best[always] = -1
    # Of equal ranks those that are higher on average come first.
    order = np.lexsort((np.arange(controllers), ranks.mean(0), best))
    return np.sort(order[: min(count, controllers)])


def noise_of(fitness: np.ndarray) -> np.ndarray:
    """Return each controller's variance of a trial, from fitness (faults, n, trials)."""
    own = fitness.var(2, ddof=1).mean(0)
    least = 1e-12 + 1e-10 * float(fitness.var())  # so that a posterior can be computed
    found: np.ndarray = np.maximum(0.5 * own + 0.5 * own.mean(), least)
    return found


def noisier_of(fitness: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return how noisy trials are in some faults, relative to the noise variance (n,): quantiles.

    ``fitness`` is (faults, n, trials).
    """
    each = np.sqrt((fitness.var(2, ddof=1) / noise).mean(1))
    found: np.ndarray = np.maximum(np.quantile(each, QUANTILES), LEAST_NOISY)
    return found


def directions_of(variances: np.ndarray, noise: float, shape: tuple[int, int]) -> int:
    """Return how many principal directions are more than noise.

    ``shape`` is that of the fitness, (faults, n), and ``noise`` its variance.  Directions of a
    matrix with nothing but noise reach a variance that is known (Marchenko and Pastur).
    """
    faults, controllers = shape
    reach = noise * (1.0 + (controllers / faults) ** 0.5) ** 2
    most = min(FACTORS, max(len(variances) - 1, 0))
    return min(int((variances > reach).sum()), most)


def fitted(
    fitness: np.ndarray, noise: np.ndarray, trials: int, present: int | None = None
) -> Prior:
    """Return the prior of controllers with this mean fitness (faults, n) over some trials.

    ``noise`` is each controller's variance of a trial (n,).  The noise of the library's own trials
    is in all directions alike: as much as in the last ones, which is taken off the first ones.  If
    ``present`` is given, the fitness of this controller is known better than that of the others,
    and it has a direction of its own: whether to leave it is the one question of every search.
    """
    faults, controllers = fitness.shape
    mean = fitness.mean(0)
    _, sizes, right = np.linalg.svd(fitness - mean, full_matrices=False)
    variances = sizes**2 / max(faults - 1, 1)
    kept = directions_of(variances, float(noise.mean()) / trials, fitness.shape)
    rest = float(variances[kept:-1].mean()) if kept < len(variances) - 1 else 0.0
    directions = right[:kept].T * np.sqrt(np.maximum(variances[:kept] - rest, 0.0))
    # What z was in each fault: least squares, with as much shrinkage as there is noise.
    square = directions.T @ directions + float(noise.mean()) * np.eye(kept)
    scores = (fitness - mean) @ directions @ np.linalg.inv(square)
    if present is not None:
        unexplained = fitness[:, present] - mean[present] - scores @ directions[present]
        size = max(float(unexplained.std()), 1e-9)
        alone = np.zeros((controllers, 1))
        alone[present] = size
        directions = np.hstack([directions, alone])
        scores = np.hstack([scores, unexplained[:, None] / size])
    level = np.full((controllers, 1), LEVEL * float(np.sqrt(noise.mean())))
    centres = np.hstack([np.sqrt(1.0 - NEAR**2) * scores, np.zeros((faults, 1))])
    width = np.array([NEAR**2] * scores.shape[1] + [1.0])
    return Prior(mean, np.hstack([directions, level]), np.sqrt(noise), centres, width)


def cover(fitness: np.ndarray, count: int) -> np.ndarray:
    """Return controllers one by one, each raising the mean over faults of the best most.

    ``fitness`` is (faults, n): what the library says of each controller.  When nobody raises it
    any more, the faults are covered once more, by the others.
    """
    fitness = fitness.round(DIGITS)
    best = np.full(len(fitness), -np.inf)
    left = np.ones(fitness.shape[1], bool)
    chosen: list[int] = []
    for _ in range(min(count, fitness.shape[1])):
        reached = np.maximum(best[:, None], fitness).mean(0)
        if reached[left].max() <= best.mean():
            best[:] = -np.inf
            reached = fitness.mean(0)
        chosen.append(int(np.argmax(np.where(left, reached, -np.inf))))
        left[chosen[-1]] = False
        best = np.maximum(best, fitness[:, chosen[-1]])
    return np.array(chosen, np.int64)


def places_in(measures: np.ndarray, most: int = 16) -> np.ndarray:
    """Return where controllers lie in a map: each axis 0 to 1, at most so many axes.

    A map with more axes is turned to its principal ones, all on the scale of the first, so
    that distances hardly change.
    """
    spread = np.asarray(measures, np.float64)
    if spread.shape[1] > most:
        centred = spread - spread.mean(0)
        _, _, axes = np.linalg.svd(centred, full_matrices=False)
        spread = centred @ axes[:most].T
        span = np.ptp(spread[:, 0])
    else:
        span = np.ptp(spread, axis=0)
    found: np.ndarray = (spread - spread.min(0)) / np.where(span > 0.0, span, 1.0)
    return found


def taught(
    tried: np.ndarray,
    more: np.ndarray,
    healthy: np.ndarray,
    present: int,
    places: np.ndarray,
    portfolio: int,
) -> tuple[Known, np.ndarray]:
    """Return what is known of controllers after a library, and their fitness there, smoothed.

    ``tried`` is (faults, n, trials), ``more`` (faults, trials) are further ones of the present
    controller, and ``healthy`` is (n, trials).
    """
    fitness = tried.mean(2)
    fitness[:, present] = np.hstack([tried[:, present], more]).mean(1)
    smooth, noise = smoothed(fitness, FINE), noise_of(tried)
    prior = fitted(fitness, noise, tried.shape[2], present)
    prior = replace(prior, noisier=noisier_of(tried, noise))
    known = Known(
        Prior(*(_as_stored(getattr(prior, field.name)) for field in fields(prior))),
        _as_stored(healthy.mean(1)),
        _as_stored(places),
        cover(smooth, portfolio),
    )
    return known, smooth


def _as_stored(values: np.ndarray) -> np.ndarray:
    """Return numbers rounded as in a file, so that a kit is the same before and after it."""
    return values.astype(np.float32).astype(np.float64)
