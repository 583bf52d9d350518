"""Every command on every kind of instance answers or refuses: no fault, and no answer that it then calls wrong."""

import itertools
from collections import Counter

import cells
import pytest

SAMPLE = cells.covering()
NO_TARGET = {("size", "unplaced"), ("size", "nobody placed")}
"""Who fits nowhere is no target of a purchase."""
NO_PROGRAM = ("file", "nobody placed")
"""Where nobody can run anything no file is asked, and none is refused."""


def at_fault(chosen):
    """Run some cells; return what went wrong, and what the package's own table of refusals says otherwise."""
    faults = []
    for cell, outcome in cells.outcomes(chosen):
        if not outcome.sound:
            faults.append(f"{cell}: {outcome}")
        elif (
            cell.command != "whatif --sweep"
            and (cell.command, cell.feature) not in NO_TARGET
            and (cell.policy, cell.feature) != NO_PROGRAM
        ) and (outcome.status == 2) == (not (row := cells.told(cell, changes=True))):
            # (A sweep of a weight changes what the table speaks of.)
            said = f"the table says refused ({row})" if row else "the table says answered"
            faults.append(f"{cell}: {said}, and it is not: {outcome.status} {outcome.words[-200:]}")
    return faults


@pytest.mark.parametrize("command", [row.name for row in cells.COMMANDS])
def test_no_command_is_at_fault(command):
    faults = at_fault([cell for cell in SAMPLE if cell.command == command])
    assert not faults, "\n".join(faults)


def test_the_sample_has_every_pair_of_kinds():
    seen = Counter(itertools.chain.from_iterable(itertools.combinations(astuple(cell), 2) for cell in SAMPLE))
    for feature, policy in itertools.product(cells.FEATURES, cells.POLICIES):
        assert seen[("feature", feature), ("policy", policy)]
    for command in cells.COMMANDS:
        for mode in command.modes:
            called = [cell for cell in SAMPLE if (cell.command, cell.mode) == (command.name, mode)]
            assert {cell.cluster for cell in called} == set(cells.CLUSTERS)
            assert {cell.groups for cell in called} == set(cells.GROUPS)


def astuple(cell):
    return tuple(vars(cell).items())


@pytest.mark.slow
@pytest.mark.parametrize("row", cells.COMMANDS, ids=lambda row: row.name)
@pytest.mark.parametrize("cluster", cells.CLUSTERS)
def test_no_cell_is_a_fault(row, cluster, request):
    """Every command with every feature and with every policy; ``--every-case`` takes all cells, in 15 minutes."""
    table = cells.cells() if request.config.getoption("--every-case") else cells.triples()
    faults = at_fault([cell for cell in table if (cell.command, cell.cluster) == (row.name, cluster)])
    assert not faults, "\n".join(faults)
