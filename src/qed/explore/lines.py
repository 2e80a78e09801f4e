"""What is seen, as the lines of Python that reproduce it."""

from typing import Any

from qed.archive.stored import EXAMPLE
from qed.explore.sources import ArchiveView
from qed.explore.state import DIGITS, Scene
from qed.swarm.environment import ATTRIBUTES, Environment, other_robot
from qed.swarm.robot import CYCLE


def written(scene: Scene, way: str = "") -> str:
    """Return a program that does what is seen; ``way`` is how it was recovered, if it was."""
    lines = ["import qed", ""]
    if scene.start != "drawn":
        lines[1:1] = ["import numpy as np"]
    lines += _controller(scene)
    different = _differences(scene.environment)
    if scene.environment.floor:
        home = "archive" if scene.view.source else "kit"
        different += [f"floor={home}.environment.floor"]
    lines.append(f"environment = qed.Environment({', '.join(different)})")
    extra = _start(scene, lines)
    task = f"task={_quoted(scene.task)}"
    if any(cycle for cycle, _ in scene.events):
        lines += _world(scene, task, extra)
    else:
        faults = ""
        if scene.events:
            lines.append(f"faults = qed.Faults({_quoted(','.join(scene.events[0][1]))})")
            faults = ", faults=faults"
        lines += [
            "film = qed.trace(",
            f"    controller, environment, {task}, seconds={scene.seconds:g}, seed={scene.seed}"
            f"{faults}{extra},",
            ")",
            'print(f"{film.score[-1]:.3f}")  # film.x, film.y, film.heading: every cycle',
        ]
    lines += _recovery(scene, way)
    return "\n".join(lines) + "\n"


def _quoted(value: Any) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _kit(one: ArchiveView) -> str:
    return f"kit = qed.Kit.load({_quoted(one.kit_source)})"


def _controller(scene: Scene) -> list[str]:
    """Return the lines that fetch the controller, or the team."""
    one = scene.view
    if not one.source:  # a kit without its archive
        lines = [_kit(one)]
        get = "kit.controllers[{}]"
    else:
        example = one.source.startswith(EXAMPLE)
        source = one.source.removeprefix(EXAMPLE)
        load = "qed.load_example" if example else "qed.Archive.load"
        lines = [f"archive = {load}({_quoted(source)})"]
        get = "archive.controller({})"
    if len(scene.cells) == 1:
        return [*lines, f"controller = {get.format(scene.cells[0])}"]
    cells = ", ".join(map(str, scene.cells))
    return [
        *lines,
        f"cells = [{cells}]  # one for each robot",
        f"controller = qed.Team([{get.format('cell')} for cell in cells])",
    ]


def _differences(environment: Environment) -> list[str]:
    """Return what is not as in the normal environment, as arguments."""
    normal = Environment(robot=environment.robot)
    robot = [f"robot={_quoted(environment.robot.name)}"] if other_robot(environment.robot) else []
    other = [
        f"{name}={getattr(environment, name):g}"
        for name in ATTRIBUTES
        if getattr(environment, name) != getattr(normal, name)
    ]
    return robot + other


def _start(scene: Scene, lines: list[str]) -> str:
    """Add the lines that place robots in a formation; return the argument that takes it."""
    placed = scene.poses
    if placed is None:
        return ""
    for name, array in (("poses", placed.poses[0]), ("obstacles", placed.obstacles[0])):
        rows = [f"    {[round(value, DIGITS) for value in row]}," for row in array.tolist()]
        width = array.shape[1]
        lines += [f"{name} = np.array([", *rows, f"]).reshape(-1, {width})"]
    lines.append("start = qed.Start(poses, obstacles)")
    return ", start=start"


def _world(scene: Scene, task: str, extra: str) -> list[str]:
    """Return the lines in which robots break while the world goes on."""
    lines = [f"world = qed.World(environment, {task}, seed={scene.seed}{extra})"]
    for begin, end, broken in scene.periods:
        if broken:
            names = _quoted(",".join(broken))
            lines.append(f"world.faults = qed.Faults({names})  # at {begin * CYCLE:g} s")
        lines.append(f"score = world.run(controller, seconds={(end - begin) * CYCLE:.1f})")
    lines.append('print(f"{score:.3f} in the last period")  # world.poses: where robots are now')
    return lines


def _recovery(scene: Scene, way: str) -> list[str]:
    """Return the lines that search for a recovery."""
    if not way or scene.faults is None:
        return []
    faults = f"faults = qed.Faults({_quoted(','.join(scene.faults))})"
    more = f"environment=environment, seconds={scene.seconds:g}"
    kit: list[str] = []
    if way == "playbook":
        kit = [_kit(scene.view)] * bool(scene.view.source)
        return ["", *kit, faults, "team = kit.playbook.team(faults)  # without a trial"]
    if way == "kit":
        kit = [_kit(scene.view)] * bool(scene.view.source)
        call = f"found = kit.recover(faults=faults, {more})"
    else:
        by = ', by="fault"' if way == "team" else ""
        more = f"trials=10, {more}{by}"
        archive = f"archive.without({_quoted(scene.without)})" if scene.without else "archive"
        call = f"found = qed.recover({archive}, {_quoted(scene.task)}, faults, {more})"
    result = 'print(f"{found.broken:.3f} -> {found.performance:.3f} (cell {found.cell})")'
    return ["", *kit, faults, call, result]
