"""The tables of the page: who has what, what is used, what one more is worth, and what changes make of it."""

from functools import partial
from typing import Any

from .palette import title_of
from .views import Column, Path, Table, at

__all__ = ["MOST_ROWS", "tables"]

Document = dict[str, Any]

MOST_ROWS = 2000
"""Users with a row of their own; of more, those with the largest dominant shares."""

MOST_QUEUES = 60
"""Groups and users up to which the tree has the users too."""

RULES = (
    ("types", None, "count"),
    ("weight", 1, "number"),
    ("limit", None, "number"),
    ("group", "", "text"),
    ("tier", 0, "count"),
    ("last", False, "text"),
    ("guarantee", "", "text"),
    ("ceiling", "", "text"),
)
"""What a user may have beside her demand: its key, what everybody has, and how it is shown."""


def tables(document: Document) -> dict[str, Table]:
    """Return every table of the page by its name."""
    found = [_policies(document), _resources(document), _users(document)]
    if document["queues"]:
        found.append(_queues(document))
    if document["prices"] and (worth := _prices(document)).rows:
        found.append(worth)
    if document["machines"] is not None:
        found.append(_machines(document))
    found += [_steps(document, place) for place in range(len(document["sweeps"]))]
    for place in range(len(document["whatifs"])):
        found += [_totals(document, place), _differences(document, place)]
    return {table.name: table for table in found}


def _policies(document: Document) -> Table:
    columns = [
        Column("policy", ("titles", None)),
        Column("lowest level", ("measures", None, "lowest"), "share"),
        Column("Jain's index", ("measures", None, "jain"), "index"),
        Column("geometric mean", ("measures", None, "nash"), "share"),
        Column("envious", ("measures", None, "envious"), "count"),
        Column("sum of\u00a0shares", ("measures", None, "sum_of_shares"), "number"),
        Column("price of\u00a0fairness", ("measures", None, "price_of_fairness"), "share"),
        Column("mean utilization", ("measures", None, "utilization"), "share"),
        Column("proof", ("comparison", "allocations", None, "certificate", "kind")),
        Column("valid", ("comparison", "allocations", None, "certificate", "valid")),
        Column("engine", ("comparison", "allocations", None, "engine")),
    ]
    keys = [(place,) for place in document["shown"]]
    return Table.of(document, "policies", "Policies side by side", "policies", columns, keys)


def _queues(document: Document) -> Table:
    """Return the tree of groups and users: what each is promised, may have, uses and waits for."""
    rows = document["queues"]
    columns = [Column("queue", ("queues", None, "name"), depth=("queues", None, "depth"))]
    if any(row["weight"] not in (None, 1) for row in rows):
        columns.append(Column("weight", ("queues", None, "weight"), "number"))
    for j, resource in enumerate(document["resources"]):
        name, unit, here = resource["name"], ("resources", j, "unit"), ("queues", None, "resources", j)
        if not any(any(row["resources"][j].values()) for row in rows):
            continue
        ceiling: Path = (*here, "ceiling")
        columns.append(
            Column("used", (*here, "used"), "number", name, unit, partial(_gauge, document, j), beside=ceiling)
        )
        for key, words in (("guarantee", "guarantee"), ("ceiling", "quota"), ("pending", "pending")):
            if any(row["resources"][j][key] for row in rows):
                columns.append(Column(words, (*here, key), "number", name, unit))
    groups = [(place,) for place, row in enumerate(rows) if row["kind"] == "group"]
    # Of a large tree the groups: their users have the table of every user.
    keys = groups if groups and len(rows) > MOST_QUEUES else [(place,) for place in range(len(rows))]
    return Table.of(document, "queues", "Queues", "queues", columns, keys, len(rows) - len(keys))


def _gauge(document: Document, j: int, used: float, key: tuple) -> tuple[float, float | None]:
    """Return how full a queue is, of its quota or else of the cluster, and where its guarantee ends."""
    row = document["queues"][key[0]]["resources"][j]
    whole = row["ceiling"] if row["ceiling"] is not None else document["resources"][j]["capacity"]
    return (used / whole if whole else 0.0), (row["guarantee"] / whole if whole and row["guarantee"] else None)


def _prices(document: Document) -> Table:
    here: tuple = ("prices", "units", None)
    pool, unit = document["machines"] is None, (*here, "unit")
    columns = [
        Column("one\u00a0more\u00a0of", (*here, "name")),
        Column("there is", (*here, "now"), "number", unit=unit),
        Column("tasks gained", (*here, "tasks"), "number"),
        Column("who\u00a0gains", (*here, "whom")),
        Column("up\u00a0to", (*here, "until"), "up to", unit=unit, beside=(*here, "now")),
        Column("price", (*here, "price"), "number"),
    ]
    units = document["prices"]["units"]
    keys = [(row,) for row, unit_row in enumerate(units) if unit_row["price"] or unit_row["tasks"]]
    what = "resource" if pool else "machine"
    return Table.of(document, "prices", f"One more {what}, and who gains", "rows", columns, keys)


def _resources(document: Document) -> Table:
    columns = [
        Column("resource", ("resources", None, "name")),
        Column("capacity", ("resources", None, "capacity"), "number", unit=("resources", None, "unit")),
    ]
    unit: Path = ("resources", None, "unit")
    priced = [place for place, a in enumerate(document["comparison"]["allocations"]) if _priced(a)]
    for place in document["shown"]:
        here, title = ("comparison", "allocations", place, "resources", None), title_of(document["titles"][place])
        columns.append(Column("used", (*here, "used"), "number", title, unit, beside=("resources", None, "capacity")))
        columns.append(Column("utilization", (*here, "utilization"), "share", title, bar=_filled))
        columns.append(Column("stops", ("resources", None, "stopped", place), "count", title))
    for place in priced:
        here = ("comparison", "allocations", place, "resources", None)
        columns.append(Column("price", (*here, "price"), "number", title_of(document["policies"][place])))
    keys = [(j,) for j in range(len(document["resources"]))]
    return Table.of(document, "resources", "Resources of the whole cluster", "resources", columns, keys)


def _filled(part: float | None, key: tuple) -> tuple[float | None, float | None]:
    return part, None


def _priced(allocation: Document) -> bool:
    return any(resource["price"] is not None for resource in allocation["resources"])


def _machines(document: Document) -> Table:
    each: tuple = ("machines", None, "resources", None)
    unit = (*each, "unit")
    columns = [
        Column("class", (*each, "class")),
        Column("resource", (*each, "name")),
        Column("machines", (*each, "count"), "count"),
        Column("capacity", (*each, "capacity"), "number", unit=unit),
    ]
    for place in document["shown"]:
        here, title = (*each, "allocations", place), title_of(document["titles"][place])
        columns.append(Column("used", (*here, "used"), "number", title, unit, beside=(*each, "capacity")))
        columns.append(Column("utilization", (*here, "utilization"), "share", title, bar=_filled))
        columns.append(Column("stops", (*here, "stopped"), "count", title))
    # What a class has nothing of needs no row; where most users are stopped comes first.
    cells = [
        (-resource["allocations"][0]["stopped"], -resource["allocations"][0]["utilization"], k, j)
        for k, machine in enumerate(document["machines"])
        for j, resource in enumerate(machine["resources"])
        if resource["capacity"]
    ]
    keys = [(k, j) for *_, k, j in sorted(cells)]
    return Table.of(document, "machines", "Machine classes, bottlenecks first", "rows", columns, keys)


def _users(document: Document) -> Table:
    users = document["users"]
    needs = "needs for a task" + (", on average" if any(user["types"] for user in users) else "")
    columns = [Column("user", ("users", None, "name"))]
    ends = document["short"]["demand_met"] is not None
    asked: Path = ("comparison", "allocations", 0, "users", None, "asked")
    if ends:
        columns.append(Column("asked", asked, "number"))
    for place in document["shown"]:
        here, title = ("comparison", "allocations", place, "users", None), title_of(document["titles"][place])
        columns.append(Column("got", (*here, "tasks"), "number", title, beside=asked))
        if ends and place == document["shown"][0]:
            columns.append(Column("met", (*here, "met"), "met", title, bar=_filled))
        columns.append(Column("dominant share", (*here, "dominant_share"), "share", title))
        # Columns beyond the screen are columns nobody reads: what stops users is told of the first policy.
        if place == document["shown"][0]:
            columns.append(Column("stopped by", ("users", None, "stopped", place), "text", title))
    columns += [
        Column(resource["name"], ("users", None, "demand", resource["name"]), "number", needs, ("resources", j, "unit"))
        for j, resource in enumerate(document["resources"])
    ]
    for heading, ordinary, kind in RULES:
        if any(user.get(heading, ordinary) != ordinary for user in users):
            columns.append(Column(heading, ("users", None, heading), kind, "has"))
    # Who is short first, as on the first screen; of very many then those with the largest shares.
    chosen = list(document["order"])
    if len(users) > MOST_ROWS:
        shares = [max(a["users"][i]["dominant_share"] for a in document["comparison"]["allocations"]) for i in chosen]
        first = {row["user"] for row in document["short"]["listed"]}
        place = dict(zip(chosen, shares, strict=True))
        kept = set(sorted(chosen, key=lambda i: (i not in first, -place[i]))[:MOST_ROWS])
        chosen = [i for i in chosen if i in kept]
    keys = [(i,) for i in chosen]
    return Table.of(document, "users", "Users", "users", columns, keys, len(users) - len(chosen))


def _steps(document: Document, place: int) -> Table:
    here: tuple = ("sweeps", place, "steps", None)
    sweep = at(document, ("sweeps", place))
    columns = [
        Column(sweep["axis"], (*here, "at"), "number"),
        Column("lowest level", (*here, "lowest"), "share"),
        Column("Jain's index", (*here, "jain"), "index"),
        Column("sum of\u00a0shares", (*here, "sum_of_shares"), "number"),
        Column("tasks", (*here, "tasks"), "number"),
        *(Column(f"{name} used", (*here, "used", j), "share") for j, name in enumerate(sweep["resources"])),
    ]
    keys = [(step,) for step in range(len(sweep["steps"]))]
    return Table.of(document, f"sweep-{place + 1}-steps", "Steps of the sweep", "steps", columns, keys)


def _totals(document: Document, place: int) -> Table:
    here: tuple = ("whatifs", place, "totals", None)
    columns = [
        Column("when", (*here, "when")),
        Column("lowest level", (*here, "lowest level"), "share"),
        Column("sum of\u00a0shares", (*here, "sum of dominant shares"), "number"),
        Column("tasks", (*here, "tasks"), "number"),
    ]
    return Table.of(document, f"whatif-{place + 1}-totals", "Before and after, in all", "rows", columns, [(0,), (1,)])


def _differences(document: Document, place: int) -> Table:
    here: tuple = ("whatifs", place, "users", None)
    columns = [Column("user", (*here, "name"))]
    before: Path = (*here, "before")
    columns += [
        Column("tasks before", before, "number"),
        Column("tasks after", (*here, "after"), "number", beside=before),
    ]
    columns += [
        Column("change", (*here, "change"), "number"),
        Column("by", (*here, "part"), "share"),
        Column("verdict", (*here, "verdict")),
    ]
    users = at(document, ("whatifs", place, "users"))
    # Who comes or goes first, then by how much of what they had changes.
    size = [abs(user["part"]) if user["part"] is not None else float("inf") for user in users]
    ranked = sorted(range(len(users)), key=lambda i: -size[i])
    keys = [(i,) for i in ranked[:MOST_ROWS]]
    return Table.of(
        document,
        f"whatif-{place + 1}-users",
        "Everybody before and after",
        "users",
        columns,
        keys,
        len(users) - len(keys),
    )
