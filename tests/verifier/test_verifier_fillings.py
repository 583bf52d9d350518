"""The knapsack of a device in the verifier: without any part of it a worse answer would pass."""

import itertools
from fractions import Fraction as F

import pytest
from test_verifier_mutants import file_of, mutant_of

from drfopt import Instance, Machine
from drfopt.certificates.verifier import verify
from drfopt.certificates.verifier.devices import FINEST, dealt, dearest


def one_less(part, devices, cpu=0):
    """Return a file in which A has one task less than its machine runs, and a leaf that prices what devices carry.

    All that the machine can run is worth as much as the task more: the leaf refutes it where anything is left out.
    """
    machine = [Machine("m", {"cpu": 100, "gpu": devices}, devices={"gpu": devices})]
    needs = {"A": {"cpu": cpu, "gpu": part}}
    most = int(file_of(Instance(needs, machines=machine), integer=True)["users"][0]["tasks"])
    found = file_of(Instance(needs, machines=machine, max_tasks=[most - 1]), integer=True)
    found["instance"]["users"][0].pop("max_tasks")
    leaf = {"tasks": {"A": "1"}, "classes": {"m": {}}, "devices": {"m": {"gpu": {str(part): "1"}}}, "levels": ["0"]}
    found["proof"]["trees"] = [[leaf]]
    return found


MUTANTS = [
    ("devices.py", "best[used - size] + price for", "price for", ("1/2", 1)),
    ("devices.py", "if size <= used)]))", "if size < used)]))", (1, 2)),
    ("devices.py", "return best[-1]", "return best[-2]", ("1/2", 1)),
    ("devices.py", "sizes = [(int(part * room), price)", "sizes = [(room, price)", ("1/3", 1)),
    ("trees.py", "int(count) * worth", "worth", ("1/2", 2)),
    ("trees.py", "* max(need, one) for need in needs", "* 2 * max(need, one) for need in needs", ("1/2", 2)),
    ("trees.py", "+ sum(worth for _, worth in sized))", ")", ("1/2", 2)),
    ("trees.py", "most: Any = self.count[k] * self.by_resources", "most: Any = 0 * self.by_resources", ("1/2", 2)),
]


@pytest.mark.parametrize(("file", "old", "new", "rack"), MUTANTS, ids=[f"{row[0]}-{row[1][:20]}" for row in MUTANTS])
def test_a_mutant_of_the_fillings_is_found_out(tmp_path, file, old, new, rack):
    forged = one_less(*rack)
    assert verify(forged).valid is None
    assert mutant_of(tmp_path, file, old, new)(forged).valid is True


def test_what_a_device_is_worth():
    assert dearest({F(1, 2): 3, F(1, 3): 2}) == 6
    assert dearest({F(3, 5): 5, F(1, 5): 1}) == 7
    assert dearest({F(2, 5): 3, F(1): 5}) == 6
    assert dearest({}) == 0
    assert dearest({F(0): 1}) is None
    assert dearest({F(6, 5): 1}) is None
    assert dearest({F(2, 3): 5}) == 5
    assert dearest({F(1, FINEST): 1}) == FINEST
    assert dearest({F(1, FINEST + 1): 1}) is None


def one_by_one(parts, free):
    """Say whether parts can stand on devices that have so much room each, tried on each of them."""
    if not parts:
        return True
    places = [d for d, room in enumerate(free) if parts[0] <= room]
    return any(one_by_one(parts[1:], [*free[:d], free[d] - parts[0], *free[d + 1 :]]) for d in places)


def test_tasks_have_their_devices_where_they_could_be_put_on_them_one_by_one():
    sizes = [F(0), F(1, 3), F(2, 5), F(1, 2), F(2, 3), F(1), F(2)]
    for needs, count in itertools.product(itertools.permutations(sizes, 3), range(1, 4)):
        for load in itertools.product((0, 1, 3), repeat=3):
            entire = sum(need * x for need, x in zip(needs, load, strict=True) if need >= 1)
            parts = [need for need, x in zip(needs, load, strict=True) if 0 < need < 1 for _ in range(x)]
            assert dealt(F(count), needs, load) == (entire <= count and one_by_one(parts, [F(1)] * int(count - entire)))


def test_parts_that_leave_room_for_others_are_looked_at():
    # 8 + 2 + 2 and 6 + 3 + 3, though 3 fits beside 8 as well; nor is there room for 11 of 10.
    assert dealt(F(2), [F(8, 12), F(6, 12), F(3, 12), F(2, 12)], (1, 1, 2, 2))
    assert not dealt(F(2), [F(8, 10), F(5, 10), F(3, 10)], (1, 1, 2))
