"""Registries: every table of names answers in the same way, and every module that a row names is there."""

from importlib import import_module

import pytest
from house_source import modules

from drfopt.base.registry import Registry

TABLES = {
    f"{module.name}.{target.id}": (module.name, target.id)
    for module in modules("drfopt")
    if "Registry(" in module.text
    for node in module.tree.body
    for target in getattr(node, "targets", ())
    if getattr(getattr(getattr(node, "value", None), "func", None), "id", "") == "Registry"
}


@pytest.fixture(params=TABLES)
def table(request):
    module, name = TABLES[request.param]
    return getattr(import_module(module), name)


def test_there_is_one_kind_of_table():
    assert len(TABLES) >= 9


def test_names_are_found_and_unknown_ones_answered_with_the_nearest(table):
    assert isinstance(table, Registry)
    assert len({row.name.partition(":")[0] for row in table}) == len(table)
    for row in table:
        stem = row.name.partition(":")[0]
        assert table.named(stem) is row
        with pytest.raises(table.error, match=f"there is no {table.what} '{stem}{stem[-1]}': did you mean"):
            table.named(stem + stem[-1])
    with pytest.raises(table.error, match="known: " + ", ".join(table.names)):
        table.named("nothing like it")


def test_functions_of_rows_are_there(table):
    for row in table:
        if hasattr(row, "module"):
            assert table.implementation(row).__module__.startswith(table.package)


def test_a_name_with_its_argument_is_near_by_its_first_half():
    from drfopt.model.policies import POLICIES

    assert "did you mean 'single'" in str(POLICIES.unknown("singel:cpu"))
