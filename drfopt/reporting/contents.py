"""What the page says in sentences; its tables are in `page_tables`, the drawings in `figures`."""

from markupsafe import Markup

from ..base.numbers.shown import number
from ..base.tables import clean
from .page_tables import Document
from .palette import title_of
from .views import Path, at, shown

__all__ = ["GLOSSARY", "amount_of", "gist", "tiles", "verdict"]

OTHER_STOPS = (
    ("met", "nothing, having all they asked for"),
    ("limit", "their own limit"),
    ("ceiling", "a ceiling"),
    ("unplaced", "a task that fits on nothing open to it"),
    ("notion", "nothing but the notion, which leaves them there"),
    ("unknown", "what is not known"),
)
"""What stops users beside resources."""

GLOSSARY = (
    (
        "dominant share",
        "what a user holds of the resource, but for excluded ones, of which it holds the largest part of the cluster",
    ),
    (
        "level",
        "dominant share divided by the weight; DRF makes the lowest as large as can be, then the next, and so on",
    ),
    (
        "stopped by",
        "the bottleneck: a resource that is used up where the user may run, and that it needs; of whole tasks what its "
        "next task finds too little of",
    ),
    (
        "price of fairness",
        "the part of utilitarian's sum of dominant shares that the policy gives up; without rules no sum is larger",
    ),
    ("Jain's index", "1 when all levels are equal, 1/n when one of n users has everything"),
    ("geometric mean", "of the levels, by weight; CEEI makes it as large as can be"),
    (
        "envious",
        "users who could run more tasks with what another holds, scaled by their weights; of whole tasks more whole "
        "ones; – where it is not counted, as among too many users, and of whole tasks under rules or with task types",
    ),
    ("proof", "the certificate that was computed from the instance and the tasks alone: no solver is believed"),
)
"""Words of the page, explained at its end."""


UNPRICED = Markup(
    "What one more is worth, and what would raise whom, is left out of a page of whole tasks: "
    "<code>drfopt explain --integer</code> tries what would raise a user."
)


def verdict(document: Document) -> Markup:
    """Return the answer in one or two sentences: who is short of what, and what to buy."""
    short, purchases = document["short"], document["advice"]["to_buy"]
    count, users = shown(document, ("short", "users"), "count"), shown(document, ("instance", "users"), "count")
    noun = "user" if document["instance"]["users"] == 1 else "users"
    if short["unplaced"]:  # who is short as well, or asks without an end, and is not counted in either
        noun = Markup("{}, besides {} unplaced,").format(noun, shown(document, ("short", "unplaced"), "count"))
    if short["users"]:
        stopping = {resource["name"] for resource in document["resources"] if resource["stopped"][0]}
        # What stops somebody is missing; of the rest the missing tasks would need some as well.
        lacking = max(
            range(len(short["missing"])),
            key=lambda row: (short["missing"][row]["name"] in stopping, short["missing"][row]["part"]),
            default=None,
        )
        said = Markup("{} of {} {} {} less than asked for").format(
            count, users, noun, "gets" if short["users"] == 1 else "get"
        )
        if lacking is not None:
            row, unit = short["missing"][lacking], _unit(document, short["missing"][lacking]["name"])
            amount = shown(document, ("short", "missing", lacking, "amount"), "number", unit)
            said += Markup(": {} <bdi>{}</bdi> missing{}").format(amount, clean(row["name"]), _at_classes(document))
        said += Markup(".")
    elif short["endless"]:
        holding = [resource for resource in document["resources"] if resource["stopped"][0]]
        names = [resource["name"] for resource in holding]
        one = short["endless"] == 1
        # Their own ceilings may stop the others.
        all_of_them = short["held"] >= short["endless"]
        said = Markup("{} of {} {} {} for tasks without an end{}.").format(
            shown(document, ("short", "endless"), "count"),
            users,
            noun,
            "asks" if one else "ask",
            Markup("; <bdi>{}</bdi> stop{} {}").format(
                clean(", ".join(names)),
                "s" * (len(names) == 1),
                "it" if one else "them" if all_of_them else "some of them",
            )
            if names
            else "",
        )
    else:
        who = "Everybody else" if short["unplaced"] else "Everybody"
        said = Markup("{} has all it asked for.").format(who) if short["met"] else Markup("Nobody can run anything.")
    if purchases:
        said += Markup(" {}").format(_bought(document))
    elif short["users"] and document["advice"]["reason"]:
        said += Markup(" What to buy: {}.").format(clean(document["advice"]["reason"]))
    if short["unplaced"]:
        some = shown(document, ("short", "unplaced"), "count")
        said += Markup(" {} user{} nowhere.").format(some, " fits" if short["unplaced"] == 1 else "s fit")
    return said


def _at_classes(document: Document) -> str:
    """Return the classes at which all who are short are stopped, where they are the same."""
    (where, *others) = {row["where"] for row in document["short"]["listed"]}
    return clean(where) if where.startswith(" on ") and not others else ""


def _bought(document: Document) -> Markup:
    """Return what the first purchase does."""
    bought = document["advice"]["to_buy"][0]
    what = Markup("{} more <bdi>{}</bdi>").format(amount_of(document, 0), clean(bought["name"]))
    if (after := bought["short"]["after"]) < bought["short"]["before"]:
        left = shown(document, ("advice", "to_buy", 0, "short", "after"), "count")
        end = Markup("nobody would be") if after == 0 else Markup("only {} would be").format(left)
        return Markup("With <strong>{}</strong> {} short.").format(what, end)
    if bought["short"]["before"]:
        met = [shown(document, ("advice", "to_buy", 0, "demand_met", when), "share") for when in ("after", "before")]
        return Markup("With <strong>{}</strong> {} of what is asked for would be met instead of {}.").format(what, *met)
    return Markup("With <strong>{}</strong> {} would have more.").format(what, f"{len(bought['winners']):,}")


def amount_of(document: Document, place: int) -> Markup:
    """Return how much of the purchase in that place is to be bought."""
    bought = document["advice"]["to_buy"][place]
    path: Path = ("advice", "to_buy", place, "amount")
    return shown(document, path, "number", "" if bought["kind"] == "machine" else _unit(document, bought["name"]))


def _unit(document: Document, resource: str) -> str:
    """Return what a resource is counted in."""
    return next((row["unit"] for row in document["resources"] if row["name"] == resource), "")


def tiles(document: Document) -> list[tuple[str, Markup]]:
    """Return the key figures at the head of the page."""
    short, first = document["short"], title_of(document["policies"][0])
    found = []
    if short["demand_met"] is not None and (short["users"] or not short["endless"]):
        short_of_all = Markup("{} <small>of {}</small>").format(
            shown(document, ("short", "users"), "count"), shown(document, ("instance", "users"), "count")
        )
        besides = ", besides the unplaced" if short["unplaced"] else ""
        found.append((f"users short{besides}", short_of_all))
        found.append(("of what is asked for is met", shown(document, ("short", "demand_met"), "share")))
    else:
        found.append(("users", shown(document, ("instance", "users"), "count")))
        found.append((f"lowest level, {first}", shown(document, ("measures", 0, "lowest"), "share")))
    if purchases := document["advice"]["to_buy"]:
        found.append((f"more {clean(purchases[0]['name'])} to buy", amount_of(document, 0)))
    if document["machines"] is not None:
        label = "machine" if document["instance"]["machines"] == 1 else "machines"
        found.append((label, shown(document, ("instance", "machines"), "count")))
    used = [row["utilization"] for row in document["comparison"]["allocations"][0]["resources"]]
    # The scarcest resource; of a cluster without any use the first.
    j = max(range(len(used)), key=lambda j: used[j])
    path: Path = ("comparison", "allocations", 0, "resources", j, "utilization")
    found.append((f"of {clean(document['resources'][j]['name'])} used", shown(document, path, "share")))
    return found


def gist(document: Document) -> list[Markup]:
    """Return what else there is to say in sentences."""
    first = document["policies"][0]
    said = [
        Markup(
            "Under {} the user who has least{} holds {} of the resource it needs most{}, by weight; all dominant "
            "shares together are {}, and {} of the cluster is used on average."
        ).format(
            title_of(first),
            ", of those whose tasks fit somewhere," if document["short"]["unplaced"] else "",
            shown(document, ("measures", 0, "lowest"), "share"),
            " (excluded ones aside)" if document["instance"]["excluded"] else "",
            shown(document, ("measures", 0, "sum_of_shares")),
            shown(document, ("measures", 0, "utilization"), "share"),
        ),
        _stopping(document),
    ]
    if len(document["shown"]) < len(document["policies"]):
        alike = [document["titles"][place] for place in document["shown"] if " = " in document["titles"][place]]
        said.append(Markup("The same tasks for everybody, and shown once: {}.").format(clean("; ".join(alike))))
    if len(document["shown"]) > 1:
        said += _best(document)
    said += _owed(document)
    if document["instance"]["integer"]:
        said.append(UNPRICED)
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
            shown(document, (*place, index, "held"), beside=(*place, index, "promised")),
            shown(document, (*place, index, "promised"), beside=(*place, index, "held")),
            clean(row["resource"]),
        )
        for index, row in enumerate(at(document, place))
    ]
    return [Markup("Guarantees that cannot be met: {}.").format(Markup(", ").join(each))]


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
            text = shown(document, ("measures", best, key), kind)
            said.append(Markup("{} {} {}.").format(title_of(policies[best]), words, text))
    if agreed:
        said.append(Markup("All policies give the same {}.").format(" and the same ".join(agreed)))
    return said
