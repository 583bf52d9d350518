"""What stands on the page in tables and sentences; the drawings are in `figures`."""

from typing import Any

from markupsafe import Markup

from ..base.numbers.shown import number
from ..base.tables import clean
from .palette import title_of
from .views import Column, Path, Table, at, shown

__all__ = ["GLOSSARY", "MOST_ROWS", "gist", "tables", "tiles"]

Document = dict[str, Any]

MOST_ROWS = 2000
"""Users with a row of their own; of more, those with the largest dominant shares."""

OTHER_STOPS = (
    ("limit", "their own limit"),
    ("ceiling", "a ceiling"),
    ("unplaced", "a task that fits on nothing open to it"),
    ("unknown", "what is not known"),
)
"""What stops users beside resources."""

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

GLOSSARY = (
    ("dominant share", "what a user holds of the resource of which it holds the largest part of the cluster"),
    (
        "level",
        "dominant share divided by the weight; DRF makes the lowest as large as can be, then the next, and so on",
    ),
    ("stopped by", "the bottleneck: a resource that is used up where the user may run, and that it needs"),
    ("price of fairness", "the part of the largest possible sum of dominant shares that the policy gives up"),
    ("Jain's index", "1 when all levels are equal, 1/n when one of n users has everything"),
    ("geometric mean", "of the levels, by weight; CEEI makes it as large as can be"),
    ("envious", "users who could run more tasks with what another holds, scaled by their weights"),
    ("proof", "the certificate that was computed from the instance and the tasks alone: no solver is believed"),
)
"""Words of the page, explained at its end."""


def tiles(document: Document) -> list[tuple[str, Markup]]:
    """Return the key figures at the head of the page."""
    found = [("users", shown(document, ("instance", "users"), "count"))]
    if document["machines"] is None:
        found.append(("resources in one pool", shown(document, ("instance", "resources"), "count")))
    else:
        found.append(("machines", shown(document, ("instance", "machines"), "count")))
        found.append(("machine classes", shown(document, ("instance", "classes"), "count")))
    first = title_of(document["policies"][0])
    found.append((f"lowest level, {first}", shown(document, ("measures", 0, "lowest"), "share")))
    found.append((f"mean utilization, {first}", shown(document, ("measures", 0, "utilization"), "share")))
    return found


def gist(document: Document) -> list[Markup]:
    """Return the page in sentences."""
    first = document["policies"][0]
    said = [
        Markup(
            "Under {} the user who has least holds {} of the resource it needs most, by weight; all dominant shares "
            "together are {}, and {} of the cluster is used on average."
        ).format(
            title_of(first),
            shown(document, ("measures", 0, "lowest"), "share"),
            shown(document, ("measures", 0, "sum_of_shares")),
            shown(document, ("measures", 0, "utilization"), "share"),
        ),
        _stopping(document),
    ]
    said += _best(document)
    if count := document["instance"]["unplaced"]:
        names = document["comparison"]["allocations"][0]["unplaced"]
        some = ", ".join(map(clean, names[:5])) + (f" and {count - 5:,} more" if count > 5 else "")
        words = "A task fits on nothing open to it, and is left out of all comparisons: <bdi>{}</bdi>."
        said.append(Markup(words).format(some))
    said += _owed(document)
    refusals = document["comparison"].get("refusals", {})
    said += [Markup("{} gave no answer: <bdi>{}</bdi>.").format(*map(clean, pair)) for pair in refusals.items()]
    return said


def _owed(document: Document) -> list[Markup]:
    """Return whose guarantees do not fit together under the first policy."""
    place: Path = ("comparison", "allocations", 0, "broken_guarantees")
    if "broken_guarantees" not in document["comparison"]["allocations"][0]:
        return []
    each = [
        Markup("<bdi>{}</bdi> holds {} of {} <bdi>{}</bdi>").format(
            clean(row.get("group", row.get("user"))),
            shown(document, (*place, index, "held")),
            shown(document, (*place, index, "promised")),
            clean(row["resource"]),
        )
        for index, row in enumerate(at(document, place))
    ]
    return [Markup("Guarantees that do not fit together: {}.").format(Markup(", ").join(each))]


def _stopping(document: Document) -> Markup:
    places: list[tuple[str, Path]] = []
    places += [(resource["name"], ("resources", j, "stopped", 0)) for j, resource in enumerate(document["resources"])]
    places += [(words, ("stops", 0, key)) for key, words in OTHER_STOPS]
    counts = [
        Markup("{} by <bdi>{}</bdi>").format(shown(document, path, "count"), clean(name))
        for name, path in places
        if at(document, path)
    ]
    policy = title_of(document["policies"][0])
    return Markup("Users stopped under {}: {}.").format(policy, Markup(", ").join(counts))


def _best(document: Document) -> list[Markup]:
    """Return which policy is fairest and which is most efficient, where they differ at all."""
    policies, measures = document["policies"], document["measures"]
    if len(policies) == 1:
        return []
    said, agreed = [], []
    for key, words, kind in (
        ("lowest", "gives most to who has least: a lowest level of", "share"),
        ("sum_of_shares", "makes most of the cluster: a sum of dominant shares of", "number"),
    ):
        best = max(range(len(policies)), key=lambda p: measures[p][key])
        worst = min(m[key] for m in measures)
        # What six digits do not tell apart is the same to a reader.
        if number(measures[best][key], 6) == number(worst, 6):
            agreed.append(words.partition(": a ")[2].removesuffix(" of"))
        else:
            told = shown(document, ("measures", best, key), kind)
            said.append(Markup("{} {} {}.").format(title_of(policies[best]), words, told))
    if agreed:
        said.append(Markup("All policies give the same {}.").format(" and the same ".join(agreed)))
    return said


def tables(document: Document) -> dict[str, Table]:
    """Return every table of the page by its name."""
    found = [_policies(document), _resources(document), _users(document)]
    if document["machines"] is not None:
        found.append(_machines(document))
    found += [_steps(document, place) for place in range(len(document["sweeps"]))]
    for place in range(len(document["whatifs"])):
        found += [_totals(document, place), _differences(document, place)]
    return {table.name: table for table in found}


def _policies(document: Document) -> Table:
    columns = [
        Column("policy", ("policies", None)),
        Column("lowest level", ("measures", None, "lowest"), "share"),
        Column("Jain's index", ("measures", None, "jain"), "number"),
        Column("geometric mean", ("measures", None, "nash"), "share"),
        Column("envious", ("measures", None, "envious"), "count"),
        Column("sum of\u00a0shares", ("measures", None, "sum_of_shares"), "number"),
        Column("price of\u00a0fairness", ("measures", None, "price_of_fairness"), "share"),
        Column("mean utilization", ("measures", None, "utilization"), "share"),
        Column("proof", ("comparison", "allocations", None, "certificate", "kind")),
        Column("valid", ("comparison", "allocations", None, "certificate", "valid")),
        Column("engine", ("comparison", "allocations", None, "engine")),
    ]
    keys = [(place,) for place in range(len(document["policies"]))]
    return Table.of(document, "policies", "Policies side by side", "policies", columns, keys)


def _resources(document: Document) -> Table:
    columns = [
        Column("resource", ("resources", None, "name")),
        Column("capacity", ("resources", None, "capacity"), "number"),
    ]
    priced = [place for place, a in enumerate(document["comparison"]["allocations"]) if _priced(a)]
    for place, policy in enumerate(document["policies"]):
        here, title = ("comparison", "allocations", place, "resources", None), title_of(policy)
        columns.append(Column("used", (*here, "used"), "number", title))
        columns.append(Column("utilization", (*here, "utilization"), "share", title))
        columns.append(Column("stops", ("resources", None, "stopped", place), "count", title))
        if place in priced:
            columns.append(Column("price", (*here, "price"), "number", title))
    keys = [(j,) for j in range(len(document["resources"]))]
    return Table.of(document, "resources", "Resources of the whole cluster", "resources", columns, keys)


def _priced(allocation: Document) -> bool:
    return any(resource["price"] is not None for resource in allocation["resources"])


def _machines(document: Document) -> Table:
    columns = [
        Column("class", ("machines", None, "resources", None, "class")),
        Column("resource", ("machines", None, "resources", None, "name")),
        Column("machines", ("machines", None, "resources", None, "count"), "count"),
        Column("capacity", ("machines", None, "resources", None, "capacity"), "number"),
    ]
    for place, policy in enumerate(document["policies"]):
        here, title = ("machines", None, "resources", None, "allocations", place), title_of(policy)
        columns.append(Column("used", (*here, "used"), "number", title))
        columns.append(Column("utilization", (*here, "utilization"), "share", title))
        columns.append(Column("stops", (*here, "stopped"), "count", title))
    # What a class has nothing of needs no row.
    keys = [
        (k, j)
        for k, machine in enumerate(document["machines"])
        for j, resource in enumerate(machine["resources"])
        if resource["capacity"]
    ]
    return Table.of(document, "machines", "Machine classes", "rows", columns, keys)


def _users(document: Document) -> Table:
    users = document["users"]
    typed = any(user["types"] for user in users)
    columns = [Column("user", ("users", None, "name"))]
    columns.append(Column("dominant resource", ("comparison", "allocations", 0, "users", None, "dominant_resource")))
    for place, policy in enumerate(document["policies"]):
        here, title = ("comparison", "allocations", place, "users", None), title_of(policy)
        columns.append(Column("tasks", (*here, "tasks"), "number", title))
        columns.append(Column("dominant share", (*here, "dominant_share"), "share", title))
        columns.append(Column("stopped by", ("users", None, "stopped", place), "text", title))
    columns += [
        Column(name, ("users", None, "demand", name), "number", "needs for a task" + (", on average" if typed else ""))
        for name in (resource["name"] for resource in document["resources"])
    ]
    for heading, ordinary, kind in RULES:
        if any(user.get(heading, ordinary) != ordinary for user in users):
            columns.append(Column(heading, ("users", None, heading), kind, "has"))
    chosen = list(range(len(users)))
    if len(users) > MOST_ROWS:
        shares = [max(a["users"][i]["dominant_share"] for a in document["comparison"]["allocations"]) for i in chosen]
        chosen = sorted(sorted(chosen, key=lambda i: -shares[i])[:MOST_ROWS])
    keys = [(i,) for i in chosen]
    return Table.of(document, "users", "Users", "users", columns, keys, len(users) - len(chosen))


def _steps(document: Document, place: int) -> Table:
    here: tuple = ("sweeps", place, "steps", None)
    sweep = at(document, ("sweeps", place))
    columns = [
        Column(sweep["axis"], (*here, "at"), "number"),
        Column("lowest level", (*here, "lowest"), "share"),
        Column("Jain's index", (*here, "jain"), "number"),
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
    columns += [Column(f"tasks {name}", (*here, name), "number") for name in ("before", "after")]
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
