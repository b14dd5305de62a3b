"""How many threads pay on a machine that others use too."""

from __future__ import annotations

from engine.threads import Threads, busy_seconds, usable_cores


class Machine:
    """A clock and CPU times that a test moves."""

    def __init__(self) -> None:
        self.now = self.busy = self.own = 0.0

    def pass_time(self, seconds: float, others: float, own: float) -> None:
        """`others` and `own`: cores in use meanwhile."""
        self.now += seconds
        self.own += own * seconds
        self.busy += (own + others) * seconds

    def times(self) -> tuple[float, float]:
        return self.busy, self.own

    def threads(self, fixed: int = 0, cores: int = 4) -> Threads:
        return Threads(fixed, cores=cores, times=self.times, clock=lambda: self.now)


def test_an_idle_machine_gives_all_cores() -> None:
    machine = Machine()
    threads = machine.threads()
    assert threads.count() == 4
    machine.pass_time(2, others=0.1, own=4)
    assert threads.count() == 4


def test_cores_that_others_use_are_left_alone() -> None:
    machine = Machine()
    threads = machine.threads()
    for others, expected in ((1.0, 3), (2.2, 2), (3.9, 1), (9.0, 1), (0.0, 4)):
        machine.pass_time(2, others=others, own=1)
        assert threads.count() == expected


def test_own_work_is_not_somebody_elses() -> None:
    machine = Machine()
    threads = machine.threads(cores=2)
    machine.pass_time(1, others=0.0, own=2)
    assert threads.count() == 2


def test_it_is_looked_at_once_a_second() -> None:
    machine = Machine()
    threads = machine.threads()
    machine.pass_time(0.2, others=2, own=0)
    assert threads.count() == 2  # what was seen while the model was loaded
    machine.pass_time(0.5, others=4, own=0)
    assert threads.count() == 2
    machine.pass_time(0.6, others=4, own=0)
    assert threads.count() == 1


def test_what_others_did_in_a_pause_does_not_count() -> None:
    machine = Machine()
    threads = machine.threads()
    assert threads.count() == 4
    threads.done()
    machine.pass_time(3, others=4, own=0)  # the search before a question, say
    assert threads.count() == 4
    machine.pass_time(0.2, others=2, own=2)  # and these go on
    threads.done()
    assert threads.count() == 2


def test_a_fixed_number_stays() -> None:
    machine = Machine()
    threads = machine.threads(fixed=3)
    machine.pass_time(2, others=9, own=0)
    assert threads.count() == 3


def test_the_real_machine_answers() -> None:
    assert usable_cores() >= 1
    machine, own = busy_seconds()
    assert machine > 0
    assert own > 0
