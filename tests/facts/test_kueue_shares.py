"""Weighted shares of Kueue, as its own tests state them, from the quotas that its reader computes with."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from drfopt.io.readers.queues.kueue.quotas import QuotaNode, Quotas

FACTS = json.loads((Path(__file__).parent / "kueue_shares.json").read_text(encoding="utf-8"))
INFINITE = 2**63 - 1


def keys(amounts: dict) -> dict[tuple[str, str], Fraction]:
    """Return amounts by flavor and resource; ``cpu@spot`` names the flavor."""
    return {
        (key.partition("@")[2] or "default", key.partition("@")[0]): Fraction(amount) for key, amount in amounts.items()
    }


def one_queue(fact: dict) -> dict[str, tuple[Quotas, QuotaNode]]:
    """Return a queue in a cohort that has the rest of what is lendable; where nothing is, the queue lends nothing."""
    nominal = keys(fact["nominal"])
    rest: dict[tuple[str, str], Fraction] = {}
    lending: dict[tuple[str, str], Fraction] = {}
    for resource, lendable in fact["lendable"].items():
        own = [key for key in nominal if key[1] == resource]
        if lendable:
            rest[own[0]] = lendable - sum(nominal[key] for key in own)
        else:
            lending |= dict.fromkeys(own, Fraction(0))
    queue = QuotaNode("cq", "cohort", Fraction(fact["weight"]), nominal, {}, lending, keys(fact["usage"]))
    return {"cq": (Quotas([queue], [QuotaNode("cohort", "", nominal=rest)]), queue)}


def tree(fact: dict) -> dict[str, tuple[Quotas, QuotaNode]]:
    made = {
        name: QuotaNode(
            name,
            node.get("parent", ""),
            Fraction(node.get("weight", 1)),
            keys(node.get("nominal", {})),
            keys(node.get("borrowingLimit", {})),
            {},
            keys(fact["usage"].get(name, {})),
        )
        for name, node in fact["tree"].items()
    }
    forest = Quotas(
        [made[name] for name in made if name in fact["usage"]],
        [made[name] for name in made if name not in fact["usage"]],
    )
    return {name: (forest, quota) for name, quota in made.items()}


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["id"])
def test_the_share_is_the_published_one(fact: dict) -> None:
    nodes = tree(fact) if "tree" in fact else one_queue(fact)
    expected = fact["share"] if "tree" in fact else {"cq": fact["share"]}
    for name, share in expected.items():
        forest, quota = nodes[name]
        found = forest.share(quota)
        assert (INFINITE if found is None else math.ceil(found)) == share
