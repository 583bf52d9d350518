"""Changes of what there is: machines of a class, or the capacity of a pool."""

from ...base.errors import InstanceError
from ...base.numbers.quantities import exact
from .grammar import Document, amount, entry_of, many, one_of, pair, resources_of, sides, table_of, whole, written

__all__ = ["add", "remove", "scale", "set_capacity", "set_count"]


def add(document: Document, text: str) -> None:
    """Add machines of a class or of a new one, or an amount to a pool."""
    count, name, table = many(text, "10*CLASS, or 2*NEW{cpu=64,memory=256Gi}")
    if "capacity" in document:
        one_of(name, resources_of(document), "resource")
        document["capacity"][name] = written(exact(document["capacity"][name]) + count)
        return
    if table is None:
        entry = entry_of(document["machines"], name, "machine class")
        entry["count"] = entry.get("count", 1) + whole(count)
        return
    if any(entry["name"] == name for entry in document["machines"]):
        raise InstanceError(f"there is a machine class {name!r} already: leave its capacity out, or give another name")
    known, given = resources_of(document), table_of(table)
    for resource in given:
        one_of(resource, known, "resource")
    capacity = {resource: given.get(resource, 0) for resource in known}
    document["machines"].append({"name": name, "count": whole(count), "capacity": capacity})


def remove(document: Document, text: str) -> None:
    """Take machines of a class away, or an amount from a pool; a class without machines is forgotten."""
    count, name, table = many(text, "3*CLASS")
    if table is not None:
        raise InstanceError(f"{text!r} cannot be read: write 3*CLASS")
    if "capacity" in document:
        one_of(name, resources_of(document), "resource")
        document["capacity"][name] = amount(f"-{count}", document["capacity"][name])
        return
    entry, less = entry_of(document["machines"], name, "machine class"), whole(count)
    there = entry.get("count", 1)
    if less > there:
        raise InstanceError(f"there are {there} machines of class {name!r}, and {less} cannot be removed")
    if less < there:
        entry["count"] = there - less
        return
    document["machines"].remove(entry)
    if not document["machines"]:
        raise InstanceError("no machine would be left")
    for user in document["users"]:
        for bearer in (user, *user.get("tasks", ())):
            if "machines" in bearer:
                bearer["machines"] = [other for other in bearer["machines"] if other != name]


def set_count(document: Document, text: str) -> None:
    """Say how many machines of a class there are."""
    name, value = sides(text, "CLASS=12")
    if "capacity" in document:
        raise InstanceError("the cluster is one pool and has no machines: set its capacity instead")
    wanted = exact(value)
    more = wanted - exact(entry_of(document["machines"], name, "machine class").get("count", 1))
    if wanted < 0:
        raise InstanceError(f"{value} machines cannot be: write a whole number")
    if more:
        (add if more > 0 else remove)(document, f"{abs(more)}*{name}")


def set_capacity(document: Document, text: str) -> None:
    """Say how much there is in a pool, or in each machine of a class."""
    name, value = sides(text, "RESOURCE=100, or =+10, or =+10%")
    if "capacity" in document:
        table = document["capacity"]
        one_of(name, list(table), "resource")
        table[name] = amount(value, table[name])
        return
    if name in resources_of(document):
        raise InstanceError(
            f"the cluster has machines: write CLASS/{name}={value} for each machine of a class, or scale {name}=1.1"
        )
    names = [entry["name"] for entry in document["machines"]]
    machine, resource = pair(name, "/", names, resources_of(document), ("class", "resource"))
    table = entry_of(document["machines"], machine, "machine class")["capacity"]
    table[resource] = amount(value, table[resource])


def scale(document: Document, text: str) -> None:
    """Multiply every capacity of a resource, or of all."""
    name, value = sides(text, "RESOURCE=1.5, or all=1.5")
    known = resources_of(document)
    if name != "all" or "all" in known:
        one_of(name, known, "resource")
        known = [name]
    times = exact(value)
    if not times > 0:
        raise InstanceError(f"a capacity cannot be multiplied by {value}: give a positive number")
    for table in [document["capacity"]] if "capacity" in document else [m["capacity"] for m in document["machines"]]:
        table |= {resource: written(exact(table[resource]) * times) for resource in known}
