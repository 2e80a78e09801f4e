"""Kinds of faults: counted robot by robot, in columns of the recoveries."""

import qed
from qed.study import work
from qed.study.results import RECOVERIES


def test_robots_are_counted_by_what_is_broken():
    faults = qed.Faults("PMIN,PMAX,PRAND,LW-H,RW-H,NONE,ROFS,NONE")
    counted = dict(zip(work.KINDS_AND_ANY, work.count_faults(faults), strict=True))
    assert counted == {"proximity": 3, "range-and-bearing": 1, "wheel": 2, work.ANY: 6}


def test_every_fault_of_the_paper_is_of_one_kind():
    for name in ("NONE", "PMIN", "PMAX", "PRAND", "LW-H", "RW-H", "BW-H", "ROFS"):
        *each, any_ = work.count_faults(qed.Faults([name]))
        assert sum(each) == any_ == (name != "NONE")


def test_the_counts_stand_side_by_side_in_the_recoveries():
    first = RECOVERIES.index("proximity_faults")
    assert RECOVERIES[first : first + 4] == tuple(work.KINDS_AND_ANY.values())
