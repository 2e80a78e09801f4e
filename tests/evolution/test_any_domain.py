"""Runs of domains that are not swarms: the whole machine for a small class."""

from __future__ import annotations

import ast
import inspect
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import qed
from qed.archive import Archive, Categories, Centroids, Environments, Grid
from qed.errors import InputError, StoppedError
from qed.evolution import Batch, Run, run_side_by_side, watch
from qed.evolution.folder import ARCHIVE, CHECKPOINT, CONFIG, PROGRESS
from qed.evolution.progress import Display

SMALL: dict[str, Any] = {"evaluations": 220, "initial": 100, "batch": 40}
GENERATIONS = 6  # 40 + 40 + 20 random ones, then 3 of 40
SLOPES = Environments({"slope": ("flat", "steep"), "load (kg)": (0, 1, 2.5)})


class Gaits(NamedTuple):
    """Parameters of legged robots."""

    stride: np.ndarray  # float32 (n,)
    phases: np.ndarray  # float32 (n, 4)


def numbers(keys: np.ndarray, count: int) -> np.ndarray:
    """Return so many uniform numbers for each key."""
    rows = [np.random.default_rng(int(key)).random(count, np.float32) for key in keys]
    return np.array(rows, np.float32).reshape(len(keys), count)


@dataclass(frozen=True)
class Walker:
    """Gaits as named columns; two measures."""

    legs: int = 4
    friction: float = 0.7
    features = ("stride", "mean phase")

    def random(self, keys: np.ndarray) -> Any:
        drawn = numbers(keys, 5)
        return Gaits(drawn[:, 0], drawn[:, 1:])

    def vary(self, parents: Any, keys: np.ndarray) -> Any:
        change = 0.2 * (numbers(keys, 5) - 0.5)
        assert isinstance(parents, Gaits)
        return Gaits(
            np.clip(parents.stride + change[:, 0], 0, 1),
            np.clip(parents.phases + change[:, 1:], 0, 1),
        )

    def evaluate(self, solutions: Any, environments: np.ndarray | None) -> tuple[Any, Any]:
        level = 0.5 if environments is None else environments @ np.array([0.5, 0.25])
        objective = self.friction - np.abs(solutions.stride.astype(float) - level)
        return objective, np.stack([solutions.stride, solutions.phases.mean(1)], 1)


class Plain(Walker):
    """The same with an array of numbers as solutions."""

    def random(self, keys: np.ndarray) -> Any:
        return numbers(keys, 5)

    def vary(self, parents: Any, keys: np.ndarray) -> Any:
        assert isinstance(parents, np.ndarray)
        return np.clip(parents + 0.2 * (numbers(keys, 5) - 0.5), 0, 1)

    def evaluate(self, solutions: Any, environments: np.ndarray | None) -> tuple[Any, Any]:
        return super().evaluate(Gaits(solutions[:, 0], solutions[:, 1:]), environments)


class Table(Plain):
    """The same with a mapping of arrays."""

    def random(self, keys: np.ndarray) -> Any:
        return {"gait": super().random(keys)}

    def vary(self, parents: Any, keys: np.ndarray) -> Any:
        assert isinstance(parents, Mapping)
        return {"gait": super().vary(parents["gait"], keys)}

    def evaluate(self, solutions: Any, environments: np.ndarray | None) -> tuple[Any, Any]:
        return super().evaluate(solutions["gait"], environments)


KINDS = {
    "grid": (Walker(), Grid((8, 8))),
    "environments": (Walker(), SLOPES),
    "array": (Plain(), Grid((8, 8))),
    "mapping": (Table(), SLOPES),
    "centroids": (Plain(), Centroids(np.random.default_rng(3).random((20, 2)))),
}


def runs_of(kind: str, folder: Path, seeds: int, resume: bool = False) -> list[Run]:
    domain, cells = KINDS[kind]
    return [
        Run(folder / f"seed-{seed}", domain, cells, seed=seed, resume=resume, **SMALL)
        for seed in range(1, seeds + 1)
    ]


def through(runs: list[Run], every: float = 1e9) -> None:
    for _ in run_side_by_side(runs, every):
        pass


def left_in(folder: Path) -> dict[str, bytes]:
    """Return the files of finished runs, but for what they say about who began them."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.*")}


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_checkpoint_it_ends_with_the_same_files(
    tmp_path: Path, kind: str, seeds: int
) -> None:
    """What is on the disk after each generation is what a kill there leaves."""
    going = tmp_path / "going"
    steps = run_side_by_side(runs_of(kind, going, seeds), every=0.0)
    left = [tmp_path / "at-0"]
    shutil.copytree(going, left[0])
    for number, _ in enumerate(steps, 1):
        left.append(tmp_path / f"at-{number}")
        shutil.copytree(going, left[-1])
    assert len(left) == GENERATIONS * seeds + 1
    wanted = left_in(going)
    assert {Path(name).name for name in wanted} == {CONFIG, PROGRESS, ARCHIVE}
    begun = set()
    for folder in left:
        resumed = runs_of(kind, folder, seeds, resume=True)
        begun.add(sum(run.search.done for run in resumed))
        through(resumed)
        assert left_in(folder) == wanted
    assert len(begun) > GENERATIONS * seeds - 2


@pytest.mark.parametrize("kind", KINDS)
def test_replicates_side_by_side_are_what_they_are_alone(tmp_path: Path, kind: str) -> None:
    together = runs_of(kind, tmp_path / "together", 3)
    through(together)
    archives = [run.archive for run in together]
    for k, run in enumerate(runs_of(kind, tmp_path / "alone", 3)):
        through([run])
        assert run.archive.equal(archives[k])
    assert not archives[0].equal(archives[1])


def test_ctrl_c_leaves_runs_that_can_be_resumed(tmp_path: Path) -> None:
    through(runs_of("array", tmp_path / "through", 2))
    steps = run_side_by_side(runs_of("array", tmp_path / "stopped", 2), every=1e9)
    for _ in range(5):
        next(steps)
    with pytest.raises(KeyboardInterrupt):
        steps.throw(KeyboardInterrupt)
    resumed = runs_of("array", tmp_path / "stopped", 2, resume=True)
    assert [run.search.done for run in resumed] == [100, 80]
    through(resumed)
    assert left_in(tmp_path / "stopped") == left_in(tmp_path / "through")


def test_an_error_in_the_domain_leaves_what_was_done(tmp_path: Path) -> None:
    class Failing(Plain):
        calls = 0

        def evaluate(self, solutions: Any, environments: np.ndarray | None) -> tuple[Any, Any]:
            Failing.calls += 1
            if Failing.calls == 5:
                raise RuntimeError("a bolt came loose")
            return super().evaluate(solutions, environments)

    run = Run(tmp_path / "run", Failing(), Grid((8, 8)), **SMALL)
    with pytest.raises(RuntimeError, match="bolt"):
        through([run])
    again = Run(tmp_path / "run", Failing(), Grid((8, 8)), resume=True, **SMALL)
    assert again.search.done == 140
    through([again])
    reference = Run(None, Failing(), Grid((8, 8)), **SMALL)
    through([reference])
    assert again.archive.equal(reference.archive)


def test_environments_as_cells_find_the_best_for_each(tmp_path: Path) -> None:
    run = Run(None, Plain(), SLOPES, evaluations=4000, initial=300)
    through([run])
    assert len(run.archive) == SLOPES.cells == 6
    stride = run.archive.solutions()["solution"][:, 0]
    wanted = [0.5 * slope + 0.25 * load for slope in (0, 1) for load in (0, 1, 2)]
    assert stride == pytest.approx(wanted, abs=0.05)


def test_a_run_tells_what_made_it(tmp_path: Path) -> None:
    domain, cells = KINDS["environments"]
    run = Run(tmp_path / "run", domain, cells, seed=7, **SMALL)
    through([run])
    config = tomllib.loads((tmp_path / "run" / CONFIG).read_text())
    assert config["made_by"].pop("qed") == qed.__version__
    del config["made_by"]
    assert config == {
        "run": {"domain": "Walker", "evaluations": 220, "initial": 100, "batch": 40, "seed": 7},
        "domain": {"legs": 4, "friction": 0.7},
        "cells": {"kind": "environments"},
        "environments": {"slope": ["flat", "steep"], "load (kg)": [0, 1, 2.5]},
    }
    loaded = Archive.load(tmp_path / "run" / ARCHIVE)
    assert loaded.header["settings"] == config["run"]
    assert loaded.header["domain"] == config["domain"]
    assert loaded.header["features"] == ["stride", "mean phase"]
    assert loaded.space == SLOPES
    assert loaded.equal(run.archive)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"domain": Walker(legs=6)}, "legs is 4 there, 6 here"),
        ({"domain": Plain()}, "domain is 'Walker' there, 'Plain' here"),
        ({"cells": Grid((8, 9))}, r"shape is \[8, 8\] there, \[8, 9\] here"),
        ({"cells": Categories((8, 8))}, "kind is 'grid' there, 'categories' here"),
        ({"cells": SLOPES}, "shape is .* there, missing here"),
        ({"seed": 2}, "seed is 1 there, 2 here"),
        ({"batch": 41}, "batch is 40 there, 41 here"),
    ],
)
def test_another_run_is_not_gone_on_with(tmp_path: Path, other: Any, words: str) -> None:
    made = {"domain": Walker(), "cells": Grid((8, 8)), **SMALL}
    next(run_side_by_side([Run(tmp_path / "run", **made)]))
    before = left_in(tmp_path)
    with pytest.raises(InputError, match=f"holds another run: .*{words}"):
        Run(tmp_path / "run", **{**made, **other}, resume=True)
    with pytest.raises(InputError, match="already holds this run"):
        Run(tmp_path / "run", **made)
    assert left_in(tmp_path) == before


def test_other_centroids_are_another_run(tmp_path: Path) -> None:
    points = np.random.default_rng(3).random((20, 2))
    Run(tmp_path / "run", Plain(), Centroids(points), **SMALL)
    with pytest.raises(InputError, match=r"digest is .* there"):
        Run(tmp_path / "run", Plain(), Centroids(points[::-1]), resume=True, **SMALL)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", StoppedError, "damaged: 'made_by' is missing"),
        ("[run\n", StoppedError, "damaged"),
        ("\x00\x01\xff", StoppedError, "damaged"),
        ("made_by = 3\n", StoppedError, "damaged"),
        ("run = 3\n[made_by]\nqed = '0.1'\nstreams = 1\n", StoppedError, "run is not a table"),
        ("[made_by]\nqed = '0.1'\nstreams = 1\n", InputError, "domain is missing there, 'Plain'"),
        ("[made_by]\nqed = '9'\nstreams = 99\n", InputError, "cannot be resumed"),
        (
            "[run]\ndomain = '__import__(\"os\").abort()'\n[made_by]\nqed = '0.1'\nstreams = 1\n",
            InputError,
            "domain is .*__import__.* there, 'Plain' here",
        ),
    ],
)
def test_hostile_settings_are_refused(
    tmp_path: Path, text: str, error: type[Exception], words: str
) -> None:
    folder = tmp_path / "run"
    next(run_side_by_side([Run(folder, Plain(), Grid((8, 8)), **SMALL)]))
    (folder / CONFIG).write_text(text, encoding="latin-1")
    with pytest.raises(error, match=words) as caught:
        Run(folder, Plain(), Grid((8, 8)), resume=True, **SMALL)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {"done": "40", "history": []},
        {"done": -1, "history": []},
        {"done": 10**9, "history": []},
        {"done": 40, "history": [[1.0, 2.0]]},
        {"done": 40, "history": "all"},
    ],
)
def test_a_checkpoint_with_a_hostile_state_is_left_aside(tmp_path: Path, state: Any) -> None:
    run = Run(tmp_path / "run", Plain(), Grid((8, 8)), **SMALL)
    steps = run_side_by_side([run], every=0.0)
    next(steps), next(steps)
    archive = Archive.load(tmp_path / "run" / CHECKPOINT)
    archive.header["state"] = state
    archive.save(tmp_path / "run" / CHECKPOINT)
    resumed = Run(tmp_path / "run", Plain(), Grid((8, 8)), resume=True, **SMALL)
    assert resumed.search.done == 40  # of the checkpoint before
    assert "not usable" in resumed.notes[0]


@pytest.mark.parametrize("other", ["cells", "solutions"])
def test_a_checkpoint_of_another_run_is_left_aside(tmp_path: Path, other: str) -> None:
    run = Run(tmp_path / "run", Plain(), Grid((8, 8)), **SMALL)
    next(run_side_by_side([run], every=0.0))
    strange = Run(
        tmp_path / "strange",
        Plain() if other == "cells" else Walker(),
        Grid((9, 8) if other == "cells" else (8, 8)),
        **SMALL,
    )
    next(run_side_by_side([strange], every=0.0))
    shutil.copy(tmp_path / "strange" / CHECKPOINT, tmp_path / "run" / CHECKPOINT)
    resumed = Run(tmp_path / "run", Plain(), Grid((8, 8)), resume=True, **SMALL)
    assert f"other {other} than this run" in resumed.notes[0]
    assert resumed.search.done == 0


@dataclass(frozen=True)
class Odd(Plain):
    """A domain with a field that no file can hold, unless it says otherwise."""

    law: Any = field(default=print)


class Described(Odd):
    def describe(self) -> dict[str, Any]:
        return {"law": "print", "gains": np.array([1.0, 2.5]), "on": np.bool_(True)}


class Wordless(Plain):
    def describe(self) -> Any:
        return "a walker"


def test_what_a_domain_says_must_fit_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Odd: law must be text.*describe\(\)"):
        Run(tmp_path / "run", Odd(), Grid((8, 8)), **SMALL)
    with pytest.raises(InputError, match=r"Wordless.describe\(\) must return a table"):
        Run(tmp_path / "run", Wordless(), Grid((8, 8)), **SMALL)
    with pytest.raises(InputError, match=r"Walker: friction must be .* a finite number"):
        Run(tmp_path / "run", Walker(friction=float("nan")), Grid((8, 8)), **SMALL)
    assert not (tmp_path / "run").exists()
    Run(tmp_path / "run", Described(), Grid((8, 8)), **SMALL)
    config = tomllib.loads((tmp_path / "run" / CONFIG).read_text())
    assert config["domain"] == {"law": "print", "gains": [1.0, 2.5], "on": True}
    Run(tmp_path / "run", Described(), Grid((8, 8)), resume=True, **SMALL)


class Unfinished:
    def random(self, keys: np.ndarray) -> Any: ...


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"domain": Unfinished()}, "Unfinished has no vary and no evaluate"),
        ({"cells": (8, 8)}, "cells must be a Grid"),
        ({"cells": Grid((8,))}, "features of Plain must name the 1 measures"),
        ({"evaluations": 0}, "evaluations"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_run_is_refused_at_once(tmp_path: Path, made: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Run(tmp_path / "run", **{"domain": Plain(), "cells": Grid((8, 8)), **SMALL, **made})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda n: np.zeros(n), r"Told.evaluate must return \(objective, measures\), got ndarray"),
        (lambda n: (np.zeros(n), None), "Told.evaluate must return measures"),
        (lambda n: (np.full(n, np.nan), np.zeros((n, 2))), r"objective\[0\] must be finite"),
        (lambda n: (np.full(n, -np.inf), np.zeros((n, 2))), r"objective\[0\] must be finite"),
        (lambda n: (np.zeros(n - 1), np.zeros((n - 1, 2))), "must have 39 rows"),
        (lambda n: (np.zeros(n), np.zeros((n, 3))), r"measures must have shape \(n, 2\)"),
    ],
)
def test_what_evaluation_may_not_return(result: Any, words: str) -> None:
    class Told(Plain):
        def evaluate(self, solutions: Any, environments: np.ndarray | None) -> Any:
            return result(len(solutions))

    with pytest.raises(ValueError, match=words):
        through([Run(None, Told(), Grid((8, 8)), **SMALL)])


class Pairs(Plain):
    """A domain that evaluates two searches in one go."""

    sizes: list[int] = []  # noqa: RUF012

    @staticmethod
    def together(domains: Any, batch: int) -> list[list[int]]:
        count = len(domains)
        return [list(range(k, min(k + 2, count))) for k in range(0, count, 2)]

    @staticmethod
    def begin(domains: Any, batches: Any) -> Any:
        Pairs.sizes.append(len(domains))
        return Together(domains, batches)


class Together:
    def __init__(self, domains: Any, batches: list[Batch]) -> None:
        self.domains, self.batches = domains, batches
        self.asked = 0

    def ready(self) -> bool:
        self.asked += 1
        return self.asked > 2

    def results(self) -> Iterator[Any]:
        for domain, batch in zip(self.domains, self.batches, strict=True):
            yield domain.evaluate(batch.solutions, batch.environments)


def test_a_domain_may_evaluate_several_searches_in_one_go() -> None:
    Pairs.sizes.clear()
    runs = [Run(None, Pairs(), Grid((8, 8)), seed=seed, **SMALL) for seed in (1, 2, 3)]
    beside = Run(None, Plain(), Grid((8, 8)), **SMALL)
    through([*runs, beside])
    assert sorted(Pairs.sizes) == [1] * GENERATIONS + [2] * GENERATIONS
    for seed, run in enumerate(runs, 1):
        alone = Run(None, Pairs(), Grid((8, 8)), seed=seed, **SMALL)
        through([alone])
        assert alone.archive.equal(run.archive)
    assert beside.search.finished


def test_runs_of_another_kind_of_cells_share_no_random_number() -> None:
    seeds = {
        Run(None, domain, cells, seed=seed, **SMALL).search.seed
        for domain in (Plain(), Table())
        for cells in (Grid((8, 8)), Categories((8, 8)), SLOPES)
        for seed in (1, 2)
    }
    assert len(seeds) == 12


def test_runs_that_have_not_begun_do_not_stop_the_display() -> None:
    runs = [Run(None, Plain(), SLOPES, seed=seed, **SMALL) for seed in (1, 2)]
    display = Display(runs)
    assert display.describe(0, display.begin + 1.0).endswith("? left")
    next(run_side_by_side(runs))
    assert runs[1].search.done == 0
    words = display.describe(40, display.begin + 1.0)
    assert words == (
        f"40: {len(runs[0].archive) / 2:,.0f} cells, best {runs[0].archive.best.fitness:.3f}, "
        f"mean {runs[0].archive.mean:.3f}, 40/s, 10 s left"
    )


def test_watching_says_what_a_user_should_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    watch([Run(tmp_path / "run", Plain(), SLOPES, **{**SMALL, "initial": 220})])
    assert "nothing will evolve" in capsys.readouterr().err
    watch([Run(tmp_path / "run", Plain(), SLOPES, **{**SMALL, "initial": 220}, resume=True)])
    assert "is finished" in capsys.readouterr().err


def test_going_on_with_other_code_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Run(tmp_path / "run", Plain(), SLOPES, **SMALL)
    notes = Run(tmp_path / "run", Plain(), SLOPES, resume=True, **SMALL).notes
    assert not [note for note in notes if "the code of" in note]
    monkeypatch.setattr(inspect, "getsource", lambda kind: "class Plain: ...")
    notes = Run(tmp_path / "run", Plain(), SLOPES, resume=True, **SMALL).notes
    assert "the code of Plain has changed" in notes[0]

    def unknown(kind: type) -> str:
        raise OSError("could not get source code")

    monkeypatch.setattr(inspect, "getsource", unknown)  # as in an interactive session
    notes = Run(tmp_path / "run", Plain(), SLOPES, resume=True, **SMALL).notes
    assert not [note for note in notes if "the code of" in note]


def test_resuming_needs_a_folder() -> None:
    with pytest.raises(InputError, match="resume needs folder="):
        Run(None, Plain(), SLOPES, resume=True, **SMALL)


def test_watching_tells_how_far_runs_are(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(None, Plain(), SLOPES, **SMALL)
    watch([run])
    assert run.search.finished
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("220: 6 cells, best 0.")
    assert "steps/s" not in line
    assert len(line) < 80


@pytest.mark.parametrize("module", ["domain", "map_elites", "run", "folder"])
def test_what_serves_any_domain_imports_nothing_of_swarms(module: str) -> None:
    room = Path(str(qed.__file__)).parent / "evolution"
    tree = ast.parse((room / f"{module}.py").read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    assert "qed.errors" in imported
    assert not [name for name in imported if "swarm" in name or "controller" in name]
