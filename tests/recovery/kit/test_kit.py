import json
import zipfile
from dataclasses import replace

import kits
import numpy as np
import pytest

import qed
from qed import files
from qed.errors import InputError
from qed.recovery.kit import stored
from qed.recovery.kit.fitting import places_in
from qed.recovery.kit.kit import Kit


@pytest.fixture(scope="module")
def kit():
    return kits.made()


def test_a_file_holds_all_of_a_kit(kit, tmp_path):
    path = tmp_path / "kit.npz"
    kit.save(path)
    again = Kit.load(path)
    assert again.controllers == kit.controllers
    assert (again.task, again.environment, again.seconds) == ("patrolling", qed.Environment(), 400)
    assert (again.present, again.library, again.findings) == (0, kit.library, {})
    assert again.playbook == kit.playbook
    assert again.cells.tolist() == kit.cells.tolist()
    assert again.digest == kit.digest != kits.made(seed=2).digest
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()
    # What one decides, the other decides.
    one, other = kit.search(), again.search()
    for _ in range(4):
        assert one.ask() == other.ask()
        one.tell(0.4)
        other.tell(0.4)
    assert one.belief() == other.belief()


def test_the_digest_covers_all_that_decides_a_search(kit, tmp_path):
    book, none, pmin = kit.playbook, *kit.playbook.plays.values()
    others = [replace(kit, library={"faults": ["PMAX"]}), replace(kit, cells=kit.cells + 1)]
    for changed in (
        replace(book, mixed=(0.03, 0.01)),
        replace(book, plays={"NONE": none}),
        *(
            replace(book, plays={"NONE": none, "PMIN": replace(pmin, **{name: value})})
            for name, value in {"row": 2, "fitness": 0.6, "kept": 0.4, "error": 0.02}.items()
        ),
    ):
        others.append(replace(kit, playbook=changed))
        others[-1].save(tmp_path / "kit.npz")
        assert Kit.load(tmp_path / "kit.npz").digest == others[-1].digest
    assert len({kit.digest, *(other.digest for other in others)}) == 1 + len(others)
    # What was found about it decides nothing.
    assert replace(kit, findings={"healthy": 0.7}).digest == kit.digest


def test_a_state_does_not_go_on_with_another_playbook(kit):
    half = qed.Faults(["PMIN"] * 5 + ["NONE"] * 5)
    trusted = replace(kit, playbook=replace(kit.playbook, mixed=(0.03, 0.01)))
    search = trusted.search(diagnoses=half)
    search.ask()
    search.tell(0.5)
    assert trusted.search(state=search.state).best == search.best
    plays = {**kit.playbook.plays, "PMIN": replace(kit.playbook.plays["PMIN"], row=2)}
    other = replace(trusted, playbook=replace(trusted.playbook, plays=plays))
    with pytest.raises(InputError, match="state belongs to a search with another kit"):
        other.search(state=search.state)


def test_a_large_kit_is_a_small_file(tmp_path):
    path = tmp_path / "kit.npz"
    kits.made(512).save(path)
    assert path.stat().st_size < 200_000


def changed(tmp_path, kit, header=None, arrays=None, without=()):
    """Write a kit's file with something else in it; return its path."""
    path = tmp_path / "hostile.npz"
    kit.save(path)
    told, held = files.read_arrays(path, stored.FORMAT, stored.VERSION)
    held = {
        name: array for name, array in {**held, **(arrays or {})}.items() if name not in without
    }
    files.write_arrays(path, {**told, **(header or {})}, held)
    return path


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"format": "qed-archive"}, "does not name the format"),
        ({"version": 99}, "a newer qed wrote it"),
        ({"task": "a\x1b[2J"}, "its task is not a name"),
        ({"task": 7}, "its task is not a name"),
        ({"environment": []}, "its environment is not a table"),
        ({"environment": {"robots": 10**9}}, "robots must be"),
        ({"environment": {"robot": 10}}, "robot"),
        ({"seconds": -1}, "seconds must be"),
        ({"present": 40}, "present must be"),
        ({"playbook": 3}, "its playbook"),
        ({"playbook": {"plays": [{"fault": 3}]}}, "names no fault"),
        ({"playbook": {"plays": [{"fault": "PMIN", "row": 99}]}}, "a play's row"),
        ({"playbook": {"plays": [], "mixed": [1]}}, "validation"),
        ({"findings": "none"}, "its findings"),
        ({"library": [1]}, "its library"),
        ({"inputs": ["ground 0"]}, "another robot: they read ground 0"),
    ],
)
def test_hostile_headers_are_refused(tmp_path, kit, header, words):
    with pytest.raises(ValueError, match=words):
        Kit.load(changed(tmp_path, kit, header))


@pytest.mark.parametrize(
    "findings", [{"found": []}, {"healthy": "much"}, {"faults": 1e308, "found": {"x": 1}}]
)
def test_findings_that_say_nothing_are_not_told(tmp_path, kit, findings):
    loaded = Kit.load(changed(tmp_path, kit, {"findings": findings, "library": {"faults": 3}}))
    assert "no faults simulated" in loaded.words[0]
    assert "Not validated." in loaded.words


def array(kit, name, **change):
    """Return one of a kit's arrays with some of its numbers changed."""
    found = stored.arrays_of(kit)[name].copy()
    for place, value in change.items():
        found[int(place[1:])] = value
    return {name: found}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("mean", {"_0": np.nan}, "its mean must be numbers"),
        ("loadings", {"_0": np.inf}, "its loadings must be numbers"),
        ("places", {"_0": np.nan}, "its places must be numbers"),
        ("mean", {"_0": 1e30}, "its mean must be numbers"),
        ("noise", {"_0": 0.0}, "its noise"),
        ("noise", {"_0": -1.0}, "its noise"),
        ("noise", {"_0": 1e-12}, "its noise is too small"),
        ("centres", {"_0": np.nan}, "its centres"),
        ("centres", {"_0": 1e30}, "its centres"),
        ("width", {"_0": 0.0}, "its width"),
        ("noisier", {"_0": 0.0}, "its noisier must be"),
        ("noisier", {"_0": np.nan}, "its noisier must be"),
        ("noisier", {"_0": 1e9}, "its noisier must be"),
        ("portfolio", {"_0": 40}, "its portfolio"),
        ("portfolio", {"_0": -1}, "its portfolio"),
        ("hidden", {"_0": 60000}, "its bias must be"),
        ("links", {"_0": 60000}, "must be"),
        ("source", {"_0": 16}, "source must be an input"),
        ("source", {"_0": 60000}, "source must be an input"),
        ("target", {"_0": 3}, "target must be a wheel"),
        ("weight", {"_0": np.nan}, "its weight must be numbers"),
        ("bias", {"_0": np.inf}, "bias"),
    ],
)
def test_hostile_arrays_are_refused(tmp_path, kit, name, change, words):
    with pytest.raises(ValueError, match=words):
        Kit.load(changed(tmp_path, kit, arrays=array(kit, name, **change)))


def test_arrays_of_another_shape_or_type_are_refused(tmp_path, kit):
    held = stored.arrays_of(kit)
    for name in held:
        with pytest.raises(ValueError, match="is missing"):
            Kit.load(changed(tmp_path, kit, without=[name]))
        if name not in ("portfolio", "noisier"):  # of which there may be any number
            with pytest.raises(ValueError, match="not a usable qed-kit file"):
                Kit.load(changed(tmp_path, kit, arrays={name: held[name][:-1]}))
        other = held[name].astype(np.float64 if held[name].dtype != np.float64 else np.float32)
        with pytest.raises(ValueError, match="not a usable qed-kit file"):
            Kit.load(changed(tmp_path, kit, arrays={name: other}))
    wide = np.zeros((40, 65), np.float32)
    with pytest.raises(ValueError, match="loadings must be of 0 to 64 factors"):
        Kit.load(changed(tmp_path, kit, arrays={"loadings": wide}))
    with pytest.raises(ValueError, match="portfolio must be of 1 to 65536"):
        Kit.load(changed(tmp_path, kit, arrays={"portfolio": np.zeros(0, np.int32)}))
    with pytest.raises(ValueError, match="1 to 65536 controllers"):
        Kit.load(changed(tmp_path, kit, arrays={"cell": np.zeros(0, np.int64)}))


def test_kits_of_version_1_can_be_used(tmp_path, kit):
    loaded = Kit.load(changed(tmp_path, kit, {"version": 1}, without=["noisier"]))
    prior = loaded.known.prior
    assert prior.noisier.tolist() == [1.0]
    search = loaded.search()
    for fitness in (0.9, 0.1, 0.8):  # far apart, but trials are taken to be as noisy as ever
        search.tell(fitness, search.present)
    assert (search._posterior.noise == prior.noise).all()


def test_pickles_compression_and_damage_are_refused(tmp_path, kit):
    path = tmp_path / "kit.npz"
    np.savez(path, mean=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="not a usable qed-kit file"):
        Kit.load(path)
    kit.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="not a usable qed-kit file"):
        Kit.load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("header.json", json.dumps({"format": "qed-kit", "version": 1}))
    with pytest.raises(ValueError, match="compressed"):
        Kit.load(path)
    with pytest.raises(FileNotFoundError):
        Kit.load(tmp_path / "none.npz")


def test_a_kit_is_told_from_an_archive(tmp_path, kit):
    kit.save(tmp_path / "kit.npz")
    qed.load_example("patrolling").save(tmp_path / "archive.npz")
    assert stored.is_kit(tmp_path / "kit.npz")
    assert not stored.is_kit(tmp_path / "archive.npz")
    assert not stored.is_kit(tmp_path)
    assert not stored.is_kit(tmp_path / "none.npz")


def test_the_playbook_looks_up_a_controller_for_each_robot(kit):
    mixed = qed.Faults("PMIN,NONE,PMIN")
    found = kit.playbook.look_up(mixed)
    assert found == [kit.controllers[1], kit.controllers[0], kit.controllers[1]]
    assert kit.playbook.team(mixed, anyway=True) == qed.Team(found)
    assert kit.playbook.team(qed.Faults("PMIN,PMIN")) == qed.Team([kit.controllers[1]] * 2)
    with pytest.raises(InputError, match="does not know 'PMAX'"):
        kit.playbook.look_up(qed.Faults("PMAX"))
    with pytest.raises(InputError, match=r"must be qed\.Faults"):
        kit.playbook.look_up("PMIN")


def test_places_lie_between_0_and_1_and_high_maps_are_turned():
    rng = np.random.default_rng(1)
    low = places_in(rng.normal(size=(30, 6)) * 7)
    assert (low.min(), low.max()) == (0.0, 1.0)
    assert places_in(np.ones((5, 2))).tolist() == np.zeros((5, 2)).tolist()
    high = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 200))
    turned = places_in(high)
    assert turned.shape == (30, 16)

    def apart(rows):
        return np.linalg.norm(rows[:, None] - rows, axis=2)

    ratio = apart(high)[0, 1:] / apart(turned)[0, 1:]
    np.testing.assert_allclose(ratio, ratio[0])


@pytest.mark.parametrize(
    ("mixed", "trusted"),
    [((0.03, 0.01), True), ((-0.009, 0.01), True), ((-0.02, 0.01), False), (None, False)],
)
def test_a_playbook_that_is_not_trusted_keeps_the_normal_best(kit, tmp_path, mixed, trusted):
    book = replace(kit.playbook, mixed=mixed, present=7)
    different = qed.Faults("PMIN,NONE,PMIN")
    assert book.trusted == trusted
    expected = book.look_up(different) if trusted else [kit.controllers[7]] * 3
    assert book.team(different) == qed.Team(expected)
    # Where all robots have the same fault, each play was validated by itself.
    assert book.team(qed.Faults("PMIN,PMIN")) == qed.Team([kit.controllers[1]] * 2)
    path = tmp_path / "kit.npz"
    replace(kit, playbook=book, present=7).save(path)
    again = Kit.load(path)
    assert again.playbook == book
    words = " ".join(again.words)
    assert ("can be trusted" in words) == trusted
    assert ("Do not use the playbook" in words) == (mixed is not None and not trusted)
    assert ("not validated where faults differ" in words) == (mixed is None)
