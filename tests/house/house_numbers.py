"""The house in numbers: ``python tests/house/house_numbers.py`` prints them, ``test_house_numbers`` holds what may be.

A module with a single importer is a fault where it would fit into that one.  It is none where both together are longer
than a file should be, where the importer is a table of which it is a row, or where they lie in two rooms.
"""

from collections import Counter, defaultdict
from statistics import median

from house_source import Module, imports, modules

LONG, VERIFIER_LONG = 350, 300
"""Lines from which a file asks to be split, and those that one of the verifier may have (``test_house_imports``)."""

HEAD = 12
"""Lines of docstring and imports that are written once when two files become one."""

TABLES = (
    "drfopt.cli.app",
    "drfopt.reporting.figures",
    "drfopt.axioms.properties.property_table",
    "drfopt.model.hierarchy",
)
"""Files whose imports are rows, a file for each command, figure or property, or the public names of a folder."""


def lines(module: Module) -> int:
    """Return how many lines a module has."""
    return len(module.text.splitlines())


def importers() -> dict[str, set[str]]:
    """Return who imports each module, by dotted name; lazily by a row of a table does not count."""
    package = modules("drfopt")
    names, found = {module.name for module in package}, defaultdict(set)
    for module in package:
        for _, name in imports(module):
            target = name if name in names else name.rpartition(".")[0]
            if target in names - {module.name}:
                found[target].add(module.name)
    return found


def single() -> list[tuple[Module, Module]]:
    """Return the modules with one importer, and that one."""
    by_name, who = {module.name: module for module in modules("drfopt")}, importers()
    files = [module for module in by_name.values() if module.path.name != "__init__.py"]
    return [(module, by_name[next(iter(who[module.name]))]) for module in files if len(who[module.name]) == 1]


def needless() -> list[str]:
    """Return the modules that could lie in their only importer."""
    found = []
    for module, importer in single():
        most = VERIFIER_LONG if ".verifier." in module.name else LONG
        if lines(module) + lines(importer) - HEAD > most or importer.name in TABLES or module.unit != importer.unit:
            continue
        found.append(f"{module.name} ({lines(module)}) in {importer.name} ({lines(importer)})")
    return found


def room_arrows() -> set[tuple[str, str]]:
    """Return the arrows between rooms, each once."""
    names, found = {module.name for module in modules("drfopt")}, set()
    for module in modules("drfopt"):
        for _, name in imports(module):
            if name.partition(".")[0] == "drfopt":
                target = name if name in names else name.rpartition(".")[0]
                found.add((module.unit, target.split(".")[1] if "." in target else "drfopt"))
    return {(source, target) for source, target in found if source != target}


def numbers() -> dict[str, float]:
    """Return what can be counted."""
    package = modules("drfopt")
    sizes = [lines(module) for module in package]
    stems = Counter(module.path.stem for module in package if module.path.stem != "__init__")
    return {
        "modules": len(package),
        "of them __init__": sum(module.path.name == "__init__.py" for module in package),
        "lines": sum(sizes),
        "lines a module": round(sum(sizes) / len(sizes)),
        "median lines": median(sizes),
        f"files above {LONG} lines": sum(size > LONG for size in sizes),
        "fewest modules of so many lines": -(-sum(sizes) // LONG),
        "imported once": len(single()),
        "of them to be merged": len(needless()),
        "arrows between rooms": len(room_arrows()),
        "names of two files or more": sum(count > 1 for count in stems.values()),
    }


if __name__ == "__main__":
    for what, number in numbers().items():
        print(f"{what:40}{number:>8,}")
    print(*needless(), sep="\n")
