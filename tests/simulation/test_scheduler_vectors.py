"""Every number that real schedulers publish in their own tests comes out exactly."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest

from drfopt import Instance, PolicyError, solve
from drfopt.base.errors import InstanceError
from drfopt.base.numbers.quantities import exact
from drfopt.simulation.rules import armada, dynamic, kai, koordinator, kueue, mesos_order, yarn, yunikorn
from drfopt.simulation.rules.hierarchy import Leaf, hierarchical_filling
from drfopt.simulation.rules.karma import karma
from drfopt.simulation.rules.mesos_offers import RoleQuota, offers
from drfopt.simulation.rules.mesos_order import Client, Volume
from drfopt.simulation.rules.yunikorn import compare_sorted_shares

UNBOUNDED = 2**31 - 1  # how Java's integers say that there is no maximum
VECTORS = json.loads(
    (Path(__file__).parents[1] / "facts" / "schedulers.json").read_text(encoding="utf-8"), parse_float=exact
)


def of(*kinds):
    chosen = [vector for vector in VECTORS if vector["kind"] in kinds]
    return pytest.mark.parametrize("vector", chosen, ids=[vector["id"] for vector in chosen])


def total(given):
    if "capacity" in given:
        return given["capacity"]
    names = given["servers"][0]
    return {name: sum(server[name] for server in given["servers"]) for name in names}


def close(found, expected):
    """Upstream prints floats: equal but for their last digit."""
    return abs(found - expected) <= abs(expected) * Fraction(1, 10**15)


def test_every_kind_of_vector_is_looked_at():
    marks = [mark for test in globals().values() for mark in getattr(test, "pytestmark", [])]
    seen = {id(vector) for mark in marks if mark.name == "parametrize" for vector in mark.args[1]}
    assert seen >= {id(vector) for vector in VECTORS}
    assert len({vector["id"] for vector in VECTORS}) == len(VECTORS) > 100


# Mesos


@of("order", "share")
def test_mesos_orders_its_clients(vector):
    given, expect = vector["given"], vector["expect"]
    shared = {name: Volume(f"one {name}", name, amount) for name, amount in given.get("shared", {}).items()}
    clients = {
        path: Client(
            {name: amount for name, amount in held.items() if name not in shared},
            given.get("alloc_count", {}).get(path, 0),
            frozenset(volume for name, volume in shared.items() if name in held),
        )
        for path, held in given["alloc"].items()
    }
    if "order" in expect:
        assert mesos_order.order(total(given), clients, given.get("weights")) == expect["order"]
    found = mesos_order.shares(total(given), clients, given.get("weights"))
    assert all(close(found[path], share) for path, share in expect.get("shares", {}).items())


def test_a_shared_volume_counts_once_in_a_group_too():
    disk = frozenset({Volume("v", "disk", 100)})
    clients = {"g/a": Client({"disk": 1}, volumes=disk), "g/b": Client({"disk": 1}, volumes=disk)}
    assert mesos_order.shares({"disk": 1000}, clients)["g"] == Fraction(102, 1000)


class MesosCluster:
    """Agents and frameworks that arrive, every agent offered whole to one framework."""

    def __init__(self, excluded=()):
        self.total, self.roles, self.excluded = {}, {}, excluded

    def framework(self, name, role):
        self.roles.setdefault(role, {})[name] = Client()

    def agent(self, resources):
        self.total = {name: self.total.get(name, 0) + resources.get(name, 0) for name in {*self.total, *resources}}
        (made,) = offers([resources], self.total, self.roles, excluded=self.excluded)
        self.take(made)
        return made

    def take(self, offer):
        client = self.roles[offer.role][offer.framework]
        held = {name: client.held.get(name, 0) + offer.amounts.get(name, 0) for name in {*client.held, *offer.amounts}}
        self.roles[offer.role][offer.framework] = Client(held, client.allocations + 1)

    def shares(self):
        held = {}
        for role, frameworks in self.roles.items():
            names = {name for client in frameworks.values() for name in client.held}
            held[role] = Client({n: sum(c.held.get(n, 0) for c in frameworks.values()) for n in names})
        return mesos_order.shares(self.total, held, excluded=self.excluded)


@of("greedy_sequence")
def test_mesos_offers_every_agent_to_the_lowest_role_and_framework(vector):
    given, expect = vector["given"], vector["expect"]
    cluster, winners = MesosCluster(given.get("excluded", ())), []
    for event, *details in given["arrivals"]:
        if event == "framework":
            cluster.framework(f"framework{details[0]}", details[1])
        else:
            winners.append(cluster.agent(details[0]).framework)
    assert winners == expect["winner_of_each_agent"]
    after = expect.get("shares_after", expect.get("role_share_after", {}))
    found = cluster.shares()
    assert all(close(found[path], share) for path, share in after.items())


@of("integer_alloc")
def test_mesos_offers_whole_agents_by_weight(vector):
    given, expect = vector["given"], vector["expect"]
    weights = {role: row["weight"] for role, row in given["users"].items()}
    made = offers(given["servers"], total(given), {role: {f"f-{role}": Client()} for role in weights}, weights=weights)
    assert {role: sum(offer.role == role for offer in made) for role in weights} == expect["agents"]
    for role, sums in expect.get("totals", {}).items():
        assert sums == {name: sum(o.amounts[name] for o in made if o.role == role) for name in sums}


@of("quota")
def test_mesos_serves_quotas_first(vector):
    given, expect = vector["given"], vector["expect"]
    quotas = {role: RoleQuota(row["guarantee"], row["limit"]) for role, row in given["quota"].items()}
    held, free, whole = {role: {} for role in given["roles"]}, [], {}
    for agent in given["agents"]:
        room = dict(agent["total"])
        for role, amounts in agent.get("allocated", {}).items():
            held[role] = {name: held[role].get(name, 0) + amount for name, amount in amounts.items()}
            room = {name: amount - amounts.get(name, 0) for name, amount in room.items()}
        free.append(room)
        whole = {name: whole.get(name, 0) + amount for name, amount in agent["total"].items()}
    roles = {role: {f"f-{role}": Client(held[role])} for role in given["roles"]}
    made = offers(free, whole, roles, quotas=quotas)
    for role, amounts in expect.get("alloc", {}).items():
        got = {n: held[role].get(n, 0) + sum(o.amounts.get(n, 0) for o in made if o.role == role) for n in amounts}
        assert got == amounts
    for k, amounts in enumerate(expect.get("alloc_per_agent", [])):
        assert {n: sum(o.amounts.get(n, 0) for o in made if o.agent == k) for n in amounts} == amounts


def test_a_refusal_passes_the_agent_on_to_the_next():
    roles = {"a": {"f": Client()}, "b": {"g": Client({"cpus": 1})}}
    room = [{"cpus": 4}]
    assert [offer.framework for offer in offers(room, {"cpus": 5}, roles)] == ["f"]
    made = offers(room, {"cpus": 5}, roles, refused=lambda offer: offer.framework == "f")
    assert [offer.framework for offer in made] == ["g"]


def test_a_guarantee_that_is_not_met_is_kept_free_by_the_others():
    roles = {"paid": {"f": Client()}, "rest": {"g": Client()}}
    made = offers(
        [{"cpus": 4}],
        {"cpus": 4},
        roles,
        quotas={"paid": RoleQuota({"cpus": 3})},
        refused=lambda offer: offer.framework == "f",
    )
    assert [(offer.framework, offer.amounts) for offer in made] == [("g", {"cpus": 1})]


# YARN


def queue(row, name=""):
    return yarn.YarnQueue(row["usage"], row.get("weight", 1), row["min"], row.get("start", 0), name)


@of("compare")
@pytest.mark.parametrize("version", yarn.VERSIONS)
def test_yarn_compares_two_queues(vector, version):
    given = vector["given"]
    s1, s2 = queue(given["s1"]), queue(given["s2"])
    sign = -1 if vector["expect"]["first"] == "s1" else 1
    faults = yarn.VERSIONS[version]
    assert yarn.compare(s1, s2, given["capacity"], faults) == sign
    if "yarn-11482" not in faults:
        assert yarn.compare(s2, s1, given["capacity"], faults) == -sign


@of("compare_fault")
def test_yarns_faults_are_there_behind_their_flag(vector):
    given, expect = vector["given"], vector["expect"]
    s1, s2 = queue(given["s1"]), queue(given["s2"])

    def signs(faults):
        found = [yarn.compare(a, b, given["capacity"], faults) for a, b in ((s1, s2), (s2, s1))]
        return [(value > 0) - (value < 0) for value in found]

    assert signs(()) == expect["signs"]
    assert signs([given["fault"]]) == expect["faulty_signs"]
    if "faulty_value" in expect:
        assert yarn.compare(s1, s2, given["capacity"], [given["fault"]]) == expect["faulty_value"]


@of("compare_cycle")
def test_yarns_comparison_goes_round_in_a_circle(vector):
    given = vector["given"]
    ring = [queue(given["queues"][name], name) for name in vector["expect"]["cycle"]]
    pairs = list(zip(ring, [*ring[1:], ring[0]], strict=True))
    assert all(yarn.compare(a, b, given["capacity"], [given["fault"]]) < 0 for a, b in pairs)
    assert any(yarn.compare(a, b, given["capacity"]) > 0 for a, b in pairs)


def test_without_faults_yarns_comparison_is_an_order():
    rows = itertools.product((0, 1, 2), (0, 1), (0, 1), (0, 1), (1, 2))
    queues = [
        yarn.YarnQueue({"m": u, "v": v}, w, {"m": a, "v": b}, name=f"{k:02}") for k, (u, v, a, b, w) in enumerate(rows)
    ]
    cluster = {"m": 4, "v": 3}
    ranked = yarn.order(queues, cluster)
    assert all(
        yarn.compare(a, b, cluster) < 0 < yarn.compare(b, a, cluster) for a, b in itertools.combinations(ranked, 2)
    )


def test_a_weight_of_each_resource():
    """ResourceWeights: usage over capacity and weight, resource by resource, and the largest is dominant."""
    cluster, other = {"m": 100, "v": 100}, yarn.YarnQueue({"m": 20, "v": 5}, name="other")
    first = [
        yarn.compare(yarn.YarnQueue({"m": 40, "v": 10}, weight, name="one"), other, cluster) < 0
        for weight in (1, {"m": 4}, {"m": 4, "v": 1}, {"m": 4, "v": "1/4"}, {"v": 4})
    ]
    assert first == [False, True, True, False, False]
    none = yarn.YarnQueue({"m": 1}, {"m": 0}, name="none")
    assert yarn.compare(none, other, cluster) > 0
    alike = [yarn.YarnQueue({"m": 40, "v": 10}, weight, name="one") for weight in (3, {"m": 3, "v": 3})]
    assert yarn.compare(*alike, cluster) == 0


def test_a_fault_that_is_none_is_refused():
    with pytest.raises(PolicyError, match="did you mean 'nan-ties'"):
        yarn.compare(yarn.YarnQueue({}), yarn.YarnQueue({}), {"m": 1}, ["nan-tie"])


@of("waterfill")
def test_yarn_shares_out_one_resource(vector):
    given = vector["given"]
    claims = [
        yarn.ShareBounds(row["min"], None if row["max"] == UNBOUNDED else row["max"], row["weight"])
        for row in given["users"]
    ]
    found = yarn.fair_shares(given["total"], claims)
    assert found == vector["expect"]["shares"]
    if not any(claim.minimum for claim in claims):
        names = [f"q{i}" for i in range(len(claims))]
        best = solve(
            Instance(
                demands={name: {"units": 1} for name in names},
                capacity={"units": given["total"]},
                weights={name: claim.weight for name, claim in zip(names, claims, strict=True)},
                max_tasks={n: c.maximum for n, c in zip(names, claims, strict=True) if c.maximum is not None},
            ),
            exact=True,
        ).tasks
        assert all(0 <= exactly - whole < 1 for exactly, whole in zip(best, found, strict=True))


def test_yarn_shares_with_weights_of_zero_end():
    claims = [yarn.ShareBounds(weight=0), yarn.ShareBounds(3, 5, 0), yarn.ShareBounds(maximum=2)]
    assert yarn.fair_shares(40, claims) == [0, 3, 2]
    assert yarn.fair_shares(40, claims[:2]) == [0, 3]


@of("compare_lex")
def test_all_shares_are_compared_largest_first(vector):
    given, expect = vector["given"], vector["expect"]
    for one, other, sign in (("lhs", "rhs", 1), ("rhs", "lhs", -1)):
        assert compare_sorted_shares(given[one], given[other], given["capacity"]) == sign * expect["cmp"]


@of("progressive", "progressive_tree")
def test_yarn_fills_task_by_task(vector):
    given, expect = vector["given"], vector["expect"]
    leaves = [Leaf(path, row["demand"], row["tasks"]) for path, row in given["users"].items()]

    def as_yarn(node):
        held = dict(zip(given["capacity"], node.held, strict=True))
        ranking = sorted(given["capacity"], key=lambda j: -Fraction(held[j]) / given["capacity"][j])
        return [Fraction(held[j]) / given["capacity"][j] for j in ranking], node.position

    order = hierarchical_filling(leaves, given["capacity"], measure="sum", key=as_yarn)
    assert order == expect["sequence"]
    assert all(order.count(path) == count for path, count in expect.get("counts", {}).items())


# YuniKorn, Kueue, KAI, Koordinator, Armada


def yunikorn_queue(row):
    return yunikorn.YunikornQueue(row["alloc"], row["guaranteed"], row["fairmax"])


@of("share_guarantee")
def test_yunikorn_shares(vector):
    assert yunikorn.fair_share(yunikorn_queue(vector["given"])) == vector["expect"]["share"]


@of("compare_guarantee")
def test_yunikorn_compares(vector):
    left, right = yunikorn_queue(vector["given"]["left"]), yunikorn_queue(vector["given"]["right"])
    assert yunikorn.compare(left, right) == -yunikorn.compare(right, left) == vector["expect"]["cmp"]


@of("kueue_drs")
def test_kueue_shares(vector):
    given, expect = vector["given"], vector["expect"]
    names = {*given["usage"], *given["request"]}
    usage = {name: given["usage"].get(name, 0) + given["request"].get(name, 0) for name in names}
    found = kueue.borrowed_share(usage, given["nominal"], given["lendable_in_cohort"], given["weight"])
    assert found == (expect["share"], expect["dominant"])


@of("kueue_tree")
def test_kueue_shares_in_a_tree(vector):
    given = vector["given"]
    nodes = {
        name: kueue.CohortNode(
            row.get("parent"), row.get("nominal", {}), row.get("weight", 1), row.get("borrowingLimit", {})
        )
        for name, row in given["tree"].items()
    }
    found = kueue.tree_shares(nodes, given["usage"])
    assert {name: found[name].value for name in nodes} == vector["expect"]["share"]


def test_kueue_keeps_what_may_not_be_lent():
    nodes = {
        "root": kueue.CohortNode(),
        "a": kueue.CohortNode("root", {"gpu": 6}, lending_limit={"gpu": 2}),
        "b": kueue.CohortNode("root", {"gpu": 2}),
    }
    assert kueue.tree_shares(nodes, {"b": {"gpu": 4}})["b"] == (500, "gpu")


@of("kai_division")
def test_kai_divides(vector):
    given, expect = vector["given"], vector["expect"]
    queues = {
        name: kai.KaiQueue(row["deserved"], row["request"], row["max"], row["weight"], row["priority"], int(name))
        for name, row in given["queues"].items()
    }
    assert kai.divide(given["total"], queues) == (expect["fair_share"], expect["remaining"])


@of("koord_quota")
def test_koordinators_runtime_quotas(vector):
    given = vector["given"]
    groups = {
        name: koordinator.QuotaGroup(row["request"], row["min"], row["weight"], row["guarantee"])
        for name, row in given["groups"].items()
    }
    assert koordinator.runtime_quotas(given["total"], groups) == vector["expect"]["runtime"]


@of("share_multiplier")
def test_armadas_cost(vector):
    given = vector["given"]
    found = armada.cost(given["alloc"], given["capacity"], given["multipliers"], given["weight"])
    assert found == vector["expect"]["cost"]


@of("armada_fairshare")
def test_armadas_entitlements(vector):
    given, expect = vector["given"], vector["expect"]
    (capacity,) = given["capacity"].values()
    queues = {
        name: armada.ArmadaQueue(row["weight"], Fraction(*row["demand"].values(), capacity))
        for name, row in given["queues"].items()
    }
    found = armada.entitlements(queues)
    for name in queues:
        assert close(found[name].fair, expect["fair_share"][name])
        assert close(found[name].capped, expect["demand_capped_adjusted"][name])
        assert close(found[name].uncapped, expect["uncapped_adjusted"][name])


@of("armada_theoretical")
def test_armadas_theoretical_share(vector):
    for case, expected in zip(vector["given"]["cases"], vector["expect"]["share"], strict=True):
        queues = {
            name: armada.ArmadaQueue(row["weight"], Fraction(row["demand"], case["capacity"]))
            for name, row in case["queues"].items()
        }
        assert close(armada.theoretical_share(queues, case["new_weight"]), expected)


@of("metric")
def test_armadas_fairness_error(vector):
    given = vector["given"]
    (capacity,) = given["capacity"].values()
    held = {name: Fraction(amount, capacity) for name, amount in given["alloc"].items()}
    assert armada.fairness_error(held, given["entitlement"]) == vector["expect"]["fairness_error"]


# Hierarchies, arrivals, credits


@of("tree")
def test_hierarchical_drf(vector):
    given = vector["given"]
    leaves, weights = [], {}
    for name, row in given["users"].items():
        groups = row["path"].split("/")[1:]
        # The last group of a path is the user's own queue.
        path = "/".join(groups)
        for depth, weight in enumerate(row["weights"].split("/")[1:], start=1):
            weights["/".join(groups[:depth])] = exact(weight)
        leaves.append((name, Leaf(path, row["demand"], row["tasks"])))
    order = hierarchical_filling([leaf for _, leaf in leaves], given["capacity"], weights, given["measure"])
    assert {name: order.count(leaf.path) for name, leaf in leaves} == vector["expect"]["tasks"]


def test_a_sum_lets_one_child_keep_another_waiting():
    # Nobody but y wants m: what y takes of it raises the group's share, and z is left behind x.
    leaves = [Leaf("x", {"c": 1}, 9), Leaf("g/y", {"m": 1}, 9), Leaf("g/z", {"c": 1}, 9)]
    for measure, tasks in (("sum", [3, 4, 1]), ("hdrf", [2, 4, 2])):
        order = hierarchical_filling(leaves, {"c": 4, "m": 4}, measure=measure)
        assert [order.count(leaf.path) for leaf in leaves] == tasks


@pytest.mark.parametrize("paths", [("a", "a/b"), ("a/b", "a"), ("a", "a"), ("a//b", "c")])
def test_a_path_that_makes_no_tree_is_refused(paths):
    with pytest.raises(PolicyError, match="path"):
        hierarchical_filling([Leaf(path, {"c": 1}, 1) for path in paths], {"c": 2})


def test_an_unknown_measure_is_refused():
    with pytest.raises(PolicyError, match="known: sum, scaled, hdrf"):
        hierarchical_filling([], {"c": 1}, measure="mean")


@of("alloc")
def test_the_papers_example_is_a_tree_of_one_level(vector):
    given = vector["given"]
    leaves = [Leaf(name, row["demand"], 100) for name, row in given["users"].items()]
    for measure in ("sum", "scaled", "hdrf"):
        order = hierarchical_filling(leaves, given["capacity"], measure=measure)
        assert {leaf.path: order.count(leaf.path) for leaf in leaves} == vector["expect"]["tasks"]


@of("dynamic")
def test_dynamic_drf(vector):
    given = vector["given"]
    rows = [[exact(value) for value in row] for row in given["demands"]]
    steps = dynamic.arrivals(rows, [exact(value) for value in given["capacity"]])
    assert [[str(share) for share in shares] for shares in steps] == vector["expect"]["shares"]


def test_more_arrivals_than_expected_are_refused():
    with pytest.raises(InstanceError, match="2 users arrive, but 1 are expected"):
        dynamic.arrivals([[Fraction(1)], [Fraction(1)]], [Fraction(1)], expected=1)


@of("karma")
def test_karma(vector):
    given, expect = vector["given"], vector["expect"]
    found, credits = karma(
        given["demands"],
        given["slices"],
        public=given["public"],
        credits=given["credits"],
        inflation=given["inflation"],
    )
    assert found == expect["allocations"]
    assert credits == expect["credits"]
    assert {user: sum(row) for user, row in found.items()} == expect["totals"]
