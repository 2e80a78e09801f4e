"""The contract of emitters: each of them goes through all of this, on swarms and other domains."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import commands
import numpy as np
import pytest
from swarm_runs import swarm_run

import qed
from qed.archive import Archive, Environments, Grid, stored
from qed.emitters import Bandit, Emitter, Ribs, Stream, Uniform
from qed.emitters.emitter import PARENT, VARIATION
from qed.errors import InputError
from qed.evolution import MapElites, Run, run_side_by_side
from qed.evolution.folder import ARCHIVE, CHECKPOINT, CONFIG

SIZES: dict[str, Any] = {"evaluations": 340, "initial": 100, "batch": 40}
SWARMS: dict[str, Any] = {**SIZES, "trials": 2, "seconds": 6.0}
LOADS = Environments({"load": (0, 1, 2, 3), "slope": (0, 1, 2)})


class Plane:
    """Four numbers; a cell is where the first two lie, or one of twelve targets."""

    def random(self, keys: np.ndarray) -> np.ndarray:
        return np.array([np.random.default_rng(int(key)).random(4) for key in keys])

    def vary(self, parents: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return np.clip(parents + 0.2 * (self.random(keys) - 0.5), 0.0, 1.0)

    def evaluate(self, solutions: np.ndarray, environments: np.ndarray | None) -> tuple[Any, Any]:
        target = 0.5 if environments is None else environments @ np.array([0.25, 0.1])
        return -np.abs(solutions[:, 2] - target) - solutions[:, 3] ** 2, solutions[:, :2]


class Recording(Uniform):
    """The default, written down; a user's own may be no more than this."""

    def __init__(self, full: bool = False) -> None:
        self.full = full
        self.told: list[tuple[Any, ...]] = []

    def tell(self, *told: Any) -> None:
        self.told.append(told)


class Walk:
    """One walker in the space of solutions, with a state of its own and a type for each kind."""

    full = True

    def ask(self, archive: Archive, n: int, stream: Stream) -> Any:
        if not hasattr(self, "place"):
            self.place, self.steps, self.lucky = archive.take([archive.best.cell])[0], 0, False
        return self.place + np.random.default_rng(stream).normal(0.0, 0.05, (n, len(self.place)))

    def tell(self, solutions: Any, objective: Any, measures: Any, status: Any) -> None:
        self.place = solutions[np.argmax(status)].copy()
        self.steps += 1
        self.lucky = bool((status > 0).any())

    def state(self) -> Mapping[str, Any]:
        return dict(vars(self))

    def restore(self, state: Mapping[str, Any]) -> None:
        vars(self).clear()
        vars(self).update(state)


ALL: dict[str, Callable[[], Emitter]] = {
    "uniform": Uniform,
    "bandit": Bandit,
    "bandit of two": lambda: Bandit(among=2, inherited=0.5),
    "recording": Recording,
    "a user's own": Walk,
    "cma-me": lambda: Ribs(emitters=3),
    "cma-me, directed": lambda: Ribs(ranker="2rd", es="sep_cma_es", x0=[0.5] * 4, sigma0=0.1),
    "iso-line": lambda: Ribs("IsoLineEmitter", emitters=1),
    "gaussian": lambda: Ribs("GaussianEmitter", lower_bounds=[0.0] * 4, upper_bounds=[1.0] * 4),
    "genetic": lambda: Ribs(
        "GeneticAlgorithmEmitter", operator="gaussian", operator_kwargs={"sigma": 0.1}
    ),
}
CELLS = {"behaviours": Grid((6, 6)), "environments": LOADS}
OF_SWARMS = {name: ALL[name] for name in ("uniform", "bandit", "recording", "cma-me", "iso-line")}
DENSE = qed.Controller.dense(hidden=3)


def begun(make: Callable[[], Emitter], cells: str = "behaviours", **more: Any) -> Run:
    return Run(None, Plane(), CELLS[cells], emitter=make(), **{**SIZES, **more})


def through(run: Run, generations: int = 1000) -> Run:
    for _, _ in zip(range(generations), run_side_by_side([run]), strict=False):
        pass
    return run


def evolved(make: Callable[[], Emitter], generations: int) -> MapElites:
    """Return a search between two generations."""
    one = begun(make).search
    for _ in range(generations):
        batch = one.ask()
        one.tell(batch, *one.domain.evaluate(batch.solutions, None))
    return one


def bits(solutions: Any) -> list[bytes]:
    columns = [solutions] if isinstance(solutions, np.ndarray) else list(solutions)
    return [np.ascontiguousarray(column).tobytes() for column in columns]


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_it_fills_an_archive_and_the_seed_decides_everything(make: Any, cells: str) -> None:
    first, again, other = (through(begun(make, cells, seed=seed)) for seed in (1, 1, 2))
    assert first.search.done == 340
    assert len(first.archive) > 8
    assert again.archive.equal(first.archive)
    assert not other.archive.equal(first.archive)
    begin = through(begun(make, cells), generations=3)  # the random ones
    assert first.archive.mean > begin.archive.mean


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_asking_changes_no_archive_and_no_state_that_counts(make: Any) -> None:
    one = evolved(make, 5)
    before, state = one.archive.qd_score, {k: v.copy() for k, v in one.learnt.items()}
    asked = one.ask().solutions
    assert one.archive.qd_score == before
    one.emitter.restore(one.learnt)
    assert bits(one.ask().solutions) == bits(asked)
    assert list(state) == list(one.learnt)
    assert all(np.array_equal(state[name], one.learnt[name]) for name in state)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_its_state_goes_through_a_file(tmp_path: Path, make: Any) -> None:
    one = evolved(make, 6)
    stored.save(one.archive, tmp_path / "state.npz", one.learnt)
    archive, learnt = stored.load_with_more(tmp_path / "state.npz")
    assert list(learnt) == list(one.learnt)
    other = MapElites(Plane(), Archive(one.archive.space), one.seed, emitter=make(), **SIZES)
    other.resume_with(archive, learnt)
    other.done = one.done
    for _ in range(3):
        asked = []
        for each in (one, other):
            batch = each.ask()
            asked.append(bits(batch.solutions))
            each.tell(batch, *each.domain.evaluate(batch.solutions, None))
        assert asked[0] == asked[1]
    assert other.archive.equal(one.archive)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_killed_at_any_checkpoint_it_ends_with_the_same_archive(
    tmp_path: Path, make: Any, cells: str
) -> None:
    """What is on the disk after each generation is what a kill there leaves."""

    def run(folder: Path, resume: bool = False) -> Run:
        return Run(folder, Plane(), CELLS[cells], emitter=make(), resume=resume, **SIZES)

    going = tmp_path / "going"
    left = []
    for number, _ in enumerate(run_side_by_side([run(going)], every=0.0)):
        left.append(tmp_path / f"at-{number}")
        shutil.copytree(going, left[-1])
    assert len(left) == 9
    wanted = (going / ARCHIVE).read_bytes()
    for number, folder in enumerate(left[:-1]):
        resumed = run(folder, resume=True)
        assert resumed.search.done == [40, 80, 100, 140, 180, 220, 260, 300][number]
        through(resumed)
        assert (folder / ARCHIVE).read_bytes() == wanted


@pytest.mark.parametrize("make", OF_SWARMS.values(), ids=OF_SWARMS)
def test_swarms_evolve_and_resume_with_it(tmp_path: Path, make: Any) -> None:
    how = {**SWARMS, "controller": DENSE if isinstance(make(), Ribs) else None}
    going = swarm_run("patrolling", folder=tmp_path / "going", emitter=make(), **how)
    for number, _ in enumerate(run_side_by_side([going], every=0.0)):
        if number == 6:
            shutil.copytree(tmp_path / "going", tmp_path / "left")
    resumed = swarm_run("patrolling", folder=tmp_path / "left", emitter=make(), resume=True, **how)
    assert resumed.search.done == 260
    assert through(resumed).archive.equal(going.archive)


def test_the_command_takes_its_name(tmp_path: Path) -> None:
    words = ["--evaluations=200", "--initial=100", "--batch=40", "--trials=2", "--seconds=6"]
    how = ["evolve", "patrolling", *words, "--checkpoint=0", "--hidden=3", "--emitter=cma-me"]
    assert commands.run(*how, "--replicates=2", f"--out={tmp_path / 'r'}").returncode == 0
    sizes = {"evaluations": 200, "initial": 100, "batch": 40, "trials": 2, "seconds": 6.0}
    for seed in (1, 2):
        archive = Archive.load(tmp_path / "r" / f"seed-{seed}" / ARCHIVE)
        one = qed.evolve("patrolling", emitter="cma-me", controller=DENSE, seed=seed, **sizes)
        assert archive.equal(one)
    told = commands.run("info", tmp_path / "r" / "seed-1").stdout
    assert "Ribs(kind='EvolutionStrategyEmitter'" in told
    assert re.search(r"hidden +3 ", told)
    for wrong, words in (("bandid", "did you mean 'bandit'?"), ("cma-me", "--hidden 8")):
        done = commands.run(*how[:-2], f"--emitter={wrong}", f"--out={tmp_path / 's'}")
        assert done.returncode == 2
        assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("make", OF_SWARMS.values(), ids=OF_SWARMS)
def test_side_by_side_is_what_it_is_alone(make: Any) -> None:
    dense = DENSE if isinstance(make(), Ribs) else None

    def runs() -> list[Run]:
        emitters = {make(): dense, Uniform(): None, make(): dense}
        return [
            swarm_run("patrolling", emitter=emitter, seed=seed, controller=controller, **SWARMS)
            for seed, (emitter, controller) in enumerate(emitters.items())
        ]

    together = runs()
    for _ in run_side_by_side(together):
        pass
    for run, alone in zip(together, runs(), strict=True):
        assert through(alone).archive.equal(run.archive)


def test_the_default_is_what_map_elites_always_did() -> None:
    """Parents and keys as they were before there were emitters."""
    from qed.chance import fold

    one = evolved(Uniform, 5)
    numbers = np.arange(one.done, one.done + 40)
    elites = one.archive.occupied
    draws = fold(one.seed, PARENT, numbers).astype(np.uint64)
    parents = elites[(draws * np.uint64(len(elites))) >> np.uint64(32)]
    wanted = one.domain.vary(one.archive.take(parents), fold(one.seed, VARIATION, numbers))
    assert np.array_equal(one.ask().solutions, wanted)
    assert (PARENT, VARIATION) == (12, 13)


def told_of(emitter: Recording, **more: Any) -> list[tuple[Any, ...]]:
    size = {**SWARMS, "trials": 50, "evaluations": 400, "seconds": 4.0, **more}
    few = qed.Algorithm("few", cells=qed.Attributes({"robots": (5, 10), "arena": (1.5, 2.5)}))
    through(swarm_run("aggregation", few, emitter=emitter, **size))
    return emitter.told


@pytest.mark.parametrize("race", [False, True])
def test_it_is_told_which_children_were_stopped(race: bool) -> None:
    told = told_of(Recording(), race=race)
    objective, measures, status = (np.concatenate([one[k] for one in told]) for k in (1, 2, 3))
    assert len(told) == 8
    assert len(objective) == 300
    stopped = status == -1
    assert 3 < stopped.sum() < 300
    assert np.array_equal(stopped, np.isnan(objective))
    assert set(status.tolist()) <= {-1, 0, 1, 2}
    assert set(measures[:, 0].tolist()) == {0, 1}  # the options that the search drew


def test_who_needs_full_evaluations_gets_them_and_finds_the_same_archive() -> None:
    full, partly = Recording(full=True), Recording()
    told, some = told_of(full), told_of(partly)
    objective, status = (np.concatenate([one[k] for one in told]) for k in (1, 3))
    partial, known = (np.concatenate([one[k] for one in some]) for k in (1, 3))
    assert np.isfinite(objective).all()
    assert (status >= 0).all()
    there = known >= 0
    assert 10 < there.sum() < 297
    assert np.array_equal(objective[there], partial[there])
    assert np.array_equal(status[there], known[there])
    assert (status[~there] == 0).all()  # those that were stopped would not have won
    with pytest.raises(InputError, match=r"race stops.*Recording\(\) needs full evaluations"):
        told_of(Recording(full=True), race=True)


def test_statuses_are_those_of_the_archive() -> None:
    recording = Recording()
    run = begun(lambda: recording)
    through(run)
    again = Archive(run.archive.space)
    begin = through(begun(Recording), generations=3).archive
    cells = begin.occupied
    again.add(begin.take(cells), begin.objective[cells], begin.measures[cells])
    for solutions, objective, measures, status in recording.told:
        assert again.add(solutions, objective, measures).tolist() == status.tolist()
    assert again.equal(run.archive)


def test_settings_name_the_emitter_and_another_one_is_refused(tmp_path: Path) -> None:
    def run(emitter: Any, resume: bool = False) -> Run:
        return Run(tmp_path / "r", Plane(), CELLS["behaviours"], emitter=emitter, resume=resume)

    made = run(Bandit(among=3))
    assert 'emitter = "Bandit(among=3, inherited=1.0)"' in (tmp_path / "r" / CONFIG).read_text()
    assert made.archive.header["settings"]["emitter"] == "Bandit(among=3, inherited=1.0)"
    for other in ("uniform", "bandit", Bandit(among=3, inherited=0.25)):
        with pytest.raises(InputError, match=r"emitter is .*among=3, inherited=1\.0"):
            run(other, resume=True)
    assert "emitter" not in begun(Uniform).archive.header["settings"]


@pytest.mark.parametrize(
    ("emitter", "words"),
    [
        ("bandits", "emitter must be one of uniform, bandit, cma-me.*did you mean 'bandit'"),
        (Bandit, "got a class: make one of it"),
        (object(), "has no ask and no tell and no state and no restore"),
        (Recording(full=1), "full of Recording must be True"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_emitter_is_refused(emitter: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        begun(lambda: emitter)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"among": 0}, "among must be"), ({"inherited": 2.0}, "inherited must be")],
)
def test_bad_settings_of_the_bandit(settings: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Bandit(**settings)


def test_a_wrong_number_of_children_is_refused() -> None:
    class Short(Uniform):
        def ask(self, archive: Archive, n: int, stream: Stream) -> Any:
            return super().ask(archive, n - 1, stream)

    with pytest.raises(InputError, match=r"Short.ask must return 40 solutions, got 39"):
        through(begun(Short))


@pytest.mark.parametrize(
    ("state", "words"),
    [(None, "must return arrays by name"), ({"x": ["a"]}, "x must hold numbers")],
)
def test_a_state_that_no_file_holds_is_refused(state: Any, words: str) -> None:
    class Wordy(Uniform):
        def state(self) -> Any:
            return state

    with pytest.raises(InputError, match=rf"Wordy.state\(\).*{words}"):
        begun(Wordy)


def test_a_checkpoint_with_a_strange_state_is_left_aside(tmp_path: Path) -> None:
    def run(resume: bool = False) -> Run:
        return Run(tmp_path, Plane(), CELLS["behaviours"], emitter=Bandit(), resume=resume, **SIZES)

    steps = run_side_by_side([run()], every=0.0)
    for _ in range(5):
        next(steps)
    archive = Archive.load(tmp_path / CHECKPOINT)
    stored.save(archive, tmp_path / CHECKPOINT, {"records": np.zeros((3, 7))})
    resumed = run(resume=True)
    assert "another emitter's state than this run: records must" in resumed.notes[0]
    assert resumed.search.done == 140  # of the checkpoint before
    assert through(resumed).archive.equal(through(begun(Bandit)).archive)


def test_the_bandit_finds_the_parents_that_pay() -> None:
    """Half of the children of one elite fill a cell far away, those of seven others never win."""
    archive = Archive(Grid((1000,)))
    here = np.arange(8) / 1000
    archive.add(here[:, None], np.zeros(8), here[:, None])
    bandit = Bandit(among=4, inherited=0.0)
    domain = Plane()
    domain.vary = lambda parents, keys: parents  # type: ignore[method-assign]
    bandit.begin(domain)
    children = np.zeros(8)
    for generation in range(30):
        asked = bandit.ask(archive, 40, Stream(1, 40 * generation))
        pays = (archive.space.find(asked) == 5) & (np.arange(40) % 2 == 0)
        status = np.where(pays, 2, 0)
        bandit.tell(asked, np.zeros(40), np.where(pays[:, None], 0.9, asked), status)
        children += np.bincount(archive.space.find(asked), minlength=8)
    assert children.sum() == 1200
    assert children[5] > 0.38 * 1200  # 1 - (7 / 8) ** 4 = 0.41 of the draws have it among four
    assert np.delete(children, 5).min() > 20  # others are still tried


def test_a_child_of_the_bandit_inherits() -> None:
    archive = Archive(Grid((10,)))
    archive.add(np.array([[0.1]]), [0.0], [[0.1]])
    bandit = Bandit(inherited=0.25)
    domain = Plane()
    domain.vary = lambda parents, keys: parents  # type: ignore[method-assign]
    bandit.begin(domain)
    bandit.ask(archive, 8, Stream(1, 0))
    where, status = np.full((8, 1), 0.1), np.zeros(8, int)
    where[3:5], status[3:5] = [[0.5], [0.5]], [2, 1]
    bandit.tell(where, np.zeros(8), where, status)
    records = bandit.state()["records"]
    assert records[1].tolist() == [2.0, 6.0]
    assert records[5].tolist() == [0.5, 1.5]
    assert records.sum() == 10.0


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("BayesianOptimizationEmitter", {}, "kind must be one of EvolutionStrategyEmitter"),
        ("EvolutionStrategyEmitter", {"emitters": 0}, "emitters must be"),
        ("EvolutionStrategyEmitter", {"emitters": 21}, "at most half of the batch, which is 40"),
        ("EvolutionStrategyEmitter", {"sigma": 0.1}, "pyribs refuses the settings: .*sigma"),
        ("EvolutionStrategyEmitter", {"seed": 3}, "seed is not to be given"),
        ("EvolutionStrategyEmitter", {"ranker": "3imp"}, "pyribs refuses the settings"),
        ("IsoLineEmitter", {"x0": [0.5] * 3}, "x0 must hold 4 numbers"),
    ],
)
def test_bad_settings_of_ribs(kind: str, settings: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        through(begun(lambda: Ribs(kind, **settings)))


def test_ribs_learns_what_improved_the_archive() -> None:
    """Told of what it proposed, CMA-ES goes where the objective is larger."""
    sphere = Plane()
    sphere.evaluate = (
        lambda solutions, _: (  # type: ignore[method-assign]
            -((solutions - 0.7) ** 2).sum(1),
            np.clip(solutions[:, :2], 0.0, 1.0),
        )
    )
    run = Run(
        None, sphere, Grid((1, 1)), emitter=Ribs(sigma0=0.1), **{**SIZES, "evaluations": 3100}
    )
    through(run)
    assert run.archive.take([0])[0] == pytest.approx([0.7] * 4, abs=0.03)
    default = through(Run(None, sphere, Grid((1, 1)), **{**SIZES, "evaluations": 3100}))
    assert run.archive.best.fitness > default.archive.best.fitness


class Pair(NamedTuple):
    x: np.ndarray
    y: np.ndarray


class Columns(Plane):
    """The same in columns of different shapes and types."""

    def random(self, keys: np.ndarray) -> Any:
        drawn = super().random(keys)
        return Pair(drawn[:, 0].astype(np.float32), drawn[:, 1:])

    def evaluate(self, solutions: Any, environments: Any) -> tuple[Any, Any]:
        assert solutions.x.dtype == np.float32
        assert solutions.y.shape[1:] == (3,)
        return super().evaluate(np.column_stack([solutions.x, solutions.y]), environments)


class Counts(Columns):
    def random(self, keys: np.ndarray) -> Any:
        return {"x": np.zeros(len(keys)), "n": np.ones(len(keys), np.int32)}


def test_ribs_takes_columns_of_real_numbers_and_no_others() -> None:
    run = through(Run(None, Columns(), CELLS["behaviours"], emitter=Ribs(), **SIZES))
    assert isinstance(run.archive.take(run.archive.occupied), Pair)
    assert len(run.archive) > 8
    with pytest.raises(InputError, match=r"real numbers, but n of Counts holds int32; give .*to_v"):
        Run(None, Counts(), CELLS["behaviours"], emitter=Ribs(), **SIZES)
    with pytest.raises(InputError, match=r"give controller=qed\.Controller\.dense"):
        swarm_run("patrolling", emitter=Ribs(), **SWARMS)
    with pytest.raises(InputError, match=r"controller must be qed\.Controller\.dense"):
        qed.evolve("patrolling", controller=8)  # type: ignore[arg-type]
