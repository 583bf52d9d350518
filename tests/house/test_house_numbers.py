"""What of the house can be counted: few arrows, no needless file, and files of a size to be read."""

from house_numbers import needless, numbers, room_arrows
from test_house_imports import FLOORS

KEPT = {
    "drfopt.cli.app": "Control-C while the commands are imported is answered by `drfopt.cli`, which imports nothing",
    "drfopt.engines.whole.level_search": "beside the sweep of states a search of its own, as `leximin_milp` is",
}
"""Modules that would fit into their only importer, and why they do not lie there."""


def test_floors_and_arrows_are_few():
    assert len(FLOORS) <= 10
    assert len(room_arrows()) < 100


def test_no_module_could_lie_in_its_only_importer():
    assert {name.partition(" ")[0] for name in needless()} == set(KEPT)


def test_files_are_of_a_size_to_be_read():
    assert 150 <= numbers()["lines a module"] <= 300
