"""The page: its numbers are those of the JSON, its bytes those of yesterday, and no name does more than stand there."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from clusters_to_show import HOSTILE, NSDI, crowd, hostile, machines, organised, typed

from drfopt import Group, Organisation, TaskType, explain, what_if
from drfopt.base.errors import PolicyError
from drfopt.base.tables import clean
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.planning.sweeping import sweep
from drfopt.reporting import page, study
from drfopt.reporting.charts import unkeyed
from drfopt.reporting.contents import gist, tiles, verdict
from drfopt.reporting.figures import figures
from drfopt.reporting.figures.shares import stops_figure
from drfopt.reporting.page_tables import MOST_ROWS
from drfopt.reporting.vega import library
from drfopt.reporting.views import at
from drfopt.solving.comparing import compare


class Reader(HTMLParser):
    """What a browser would make of a page: elements, tables with their places, numbers, scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.tables, self.numbers = [], [], [], []
        self.cell = self.number = self.script = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.elements.append((tag, found))
        if tag == "table":
            self.tables.append({"places": [], "rows": []})
        elif tag == "th" and "data-at" in found:
            self.tables[-1]["places"].append((json.loads(found["data-at"]), found.get("class") == "n"))
        elif tag == "tr" and "data-row" in found:
            self.tables[-1]["rows"].append((json.loads(found["data-row"]), []))
        elif tag in ("td", "th") and self.tables and self.tables[-1]["rows"]:
            self.cell = [found.get("title"), ""]
            self.tables[-1]["rows"][-1][1].append(self.cell)
        elif tag == "data":
            self.number = [json.loads(found["data-at"]), found["value"], ""]
            self.numbers.append(self.number)
        elif tag == "script":
            self.script = [found.get("type"), ""]
            self.scripts.append(self.script)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None
        elif tag == "data":
            self.number = None
        elif tag == "script":
            self.script = None

    def handle_data(self, data):
        for open_ in (self.cell, self.number, self.script):
            if open_ is not None:
                open_[-1] += data


def everything(instance, **rest):
    resource = instance.resources[0]
    return study(
        instance,
        sweeps=[sweep(instance, ["1/2", "1", "2"], resource=resource, jobs=1), sweep(instance, ["1"], jobs=1)],
        whatifs=[what_if(instance, [f"scale {resource}=2"])],
        **rest,
    )


CASES = {"pool": NSDI, "machines": machines(), "crowd": crowd(60), "nine": crowd(5, 9), "hostile": hostile()}


@pytest.fixture(scope="module", params=CASES)
def shown(request):
    document = everything(CASES[request.param], version="drfopt, for a test")
    text = page(document)
    return document, text, Reader(text)


def test_the_document_is_what_compare_finds(shown):
    document, _, _ = shown
    n, m = document["instance"]["users"], document["instance"]["resources"]
    (instance,) = [i for i in CASES.values() if (i.n, i.m) == (n, m)]
    found = compare(instance).to_dict()
    for allocation in found["allocations"]:
        del allocation["seconds"]
        allocation["version"] = "drfopt, for a test"
    assert document["comparison"] == found


def test_the_json_inside_the_page_is_the_document(shown):
    document, _, reader = shown
    inside, _ = [text for kind, text in reader.scripts if kind == "application/json"]
    assert json.loads(inside) == json.loads(json.dumps(document))


def test_every_number_of_every_table_is_the_jsons(shown):
    document, _, reader = shown
    counted = 0
    for table in reader.tables:
        assert table["rows"]
        for key, cells in table["rows"]:
            assert len(cells) == len(table["places"])
            for (place, numeric), (full, text) in zip(table["places"], cells, strict=True):
                value = at(document, tuple(place), key)
                if value is None:
                    assert text == "–"
                elif numeric:
                    said = text.replace(",", "")
                    digits = said.removesuffix(" %").removeprefix("<")
                    if full is not None:
                        assert float(full) == value
                        scale = 100 if said.endswith("%") else 1
                        places = len(digits.partition(".")[2])
                        way = "<" in said or place[-1] == "until"
                        assert float(digits) == pytest.approx(scale * value, abs=0.51 * 10.0**-places * (1 + way))
                    else:
                        assert float(digits) == value
                    counted += 1
                else:
                    assert text == {True: "yes", False: "no"}.get(value, clean(str(value)))
    assert counted > 30


def test_every_number_of_the_sentences_is_the_jsons(shown):
    document, _, reader = shown
    assert len(reader.numbers) >= 6
    for place, value, text in reader.numbers:
        assert json.loads(value) == at(document, tuple(place))
        assert text


def test_nothing_comes_from_elsewhere(shown):
    _, text, reader = shown
    for tag, attributes in reader.elements:
        assert tag not in ("iframe", "object", "embed", "base", "form", "img", "audio", "video")
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("href", "src", "action", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    assert "url(http" not in text
    assert "@import" not in text


def test_the_drawings_are_those_of_the_figures(shown):
    document, _, reader = shown
    inside = json.loads([text for kind, text in reader.scripts if kind == "application/json"][1])
    drawn = figures(document)
    assert inside["figures"].keys() == drawn.keys()
    for name, figure in drawn.items():
        for spec, panel in zip(inside["figures"][name], figure.panels, strict=True):
            # Told apart by what the page adds: its width, what is chosen, and its own legend.
            assert spec.items() >= json.loads(json.dumps(unkeyed(panel.spec))).items()
    assert sum(a.get("class") == "drawing" for _, a in reader.elements) == sum(len(f.panels) for f in drawn.values())


def test_only_the_pages_own_scripts_stand_in_it(shown):
    _, text, reader = shown
    assert [kind for kind, _ in reader.scripts] == ["application/json", "application/json", "text/plain", None]
    (policy,) = [a["content"] for tag, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    # The page's script, and the library that it unpacks.
    ours = [reader.scripts[-1][1], library()[0]]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in ours]
    assert f"script-src 'sha256-{digests[0]}' 'sha256-{digests[1]}';" in policy
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")
    assert "{{ 7" not in text.split("<script")[0] or "{{ 7 * 7 }}" in text


def test_the_page_can_be_read_without_looking(shown):
    _, text, reader = shown
    ids = [a["id"] for _, a in reader.elements if "id" in a]
    assert len(ids) == len(set(ids))
    headings = [int(tag[1]) for tag, _ in reader.elements if tag in ("h1", "h2", "h3", "h4")]
    assert headings.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))
    for tag, attributes in reader.elements:
        if tag == "a":
            assert attributes["href"][1:] in ids
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true"
        if attributes.get("class") == "drawing":
            assert attributes["role"] == "img"
            assert attributes["aria-label"]
        if "aria-labelledby" in attributes:
            assert attributes["aria-labelledby"] in ids
        if tag == "th":
            assert "scope" in attributes or not attributes.get("data-at")
    assert text.count("<caption>") == len(reader.tables)
    assert text.count("<figcaption>") == text.count("<figure ")
    assert [a for tag, a in reader.elements if tag == "html"] == [{"lang": "en"}]


def test_hostile_names_stand_there_as_they_are():
    document = study(hostile())
    reader = Reader(page(document))
    users = {cells[0][1] for table in reader.tables for _, cells in table["rows"]}
    assert {clean(name) for name in HOSTILE} <= users
    assert [tag for tag, _ in reader.elements if tag in ("b", "img")] == []
    assert page(document).encode("utf-8")


@pytest.mark.slow
def test_the_same_cluster_gives_the_same_bytes():
    assert page(everything(machines())) == page(everything(machines()))
    code = (
        "import hashlib; from drfopt.model.instance import Instance; from drfopt.reporting import page, study;"
        "print(hashlib.sha256(page(study(Instance.library('sec72'))).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_title_and_date_stand_at_the_head():
    text = page(study(NSDI, ["drf"], title="Ours <b>", date="21 November 2026"))
    assert "<h1><bdi>Ours &lt;b&gt;</bdi></h1>" in text
    assert "21 November 2026" in text
    assert "<title>Ours &lt;b&gt;</title>" in text


def test_a_policy_that_refuses_is_told_with_its_reason():
    lopsided = Instance({"A": {"cpu": 1}, "B": {"memory": 1}}, {"cpu": 9, "memory": 9})
    text = page(study(lopsided, ["drf", "single:cpu"]))
    assert "single:cpu gave no answer" in text
    with pytest.raises(PolicyError, match="'nonesuch'"):
        study(NSDI, ["nonesuch"])


def test_whole_tasks_have_a_page_too():
    document = study(machines(), ["drf"], integer=True)
    assert all(isinstance(user["tasks"], int) for user in document["comparison"]["allocations"][0]["users"])
    assert "whole tasks" in page(document)


FORMULATIONS = Path(__file__).parents[2] / "formulations"


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("policy", ["drf", FORMULATIONS / "drf.py"], ids=["drf", "formulation"])
def test_the_page_says_of_what_stops_users_what_explain_says(policy, integer):
    if integer and policy != "drf":
        policy = FORMULATIONS / "drf_integer.py"
    one = Instance([[1, 0], [2, 0], [1, 1]], {"cpu": 5, "gpu": 9}, max_tasks=[9, 4, 1], users=["A", "B", "C"])
    row = {"cpu": 5, "gpu": 2}
    classes = Instance([[1, 0], [3, 1]], machines=[Machine("m", row, 2), Machine("n", row)], max_tasks=[None, 9])
    for instance in (one, classes):
        document = study(instance, [policy], integer=integer)
        explained = explain(instance, policy, integer=integer).users
        assert [user["stopped"] for user in document["users"]] == [
            [", ".join(row.stopped_by) or "has all it asked for"] for row in explained
        ]
        assert document["stops"][0]["unknown"] == 0
        for name, resource in zip(instance.resources, document["resources"], strict=True):
            held = sum(any(at.rpartition("/")[2] == name for at in row.stopped_by) for row in explained)
            assert resource["stopped"] == [held]
        assert "not known" not in str(gist(document)[1])


@pytest.mark.parametrize("on_machines", [False, True])
def test_a_file_of_whole_tasks_has_the_page_of_whole_tasks_asked_for_or_not(on_machines):
    """B's task is larger than the pool: of divisible tasks it would run a part of one, and C half a task."""
    cluster = {"machines": [Machine("m", {"cpu": 5})]} if on_machines else {"capacity": {"cpu": 5}}
    instance = Instance({"A": {"cpu": 2}, "B": {"cpu": 6}, "C": {"cpu": 1}}, max_tasks={"C": 0.5}, **cluster)
    policy = FORMULATIONS / "drf_integer.py"
    found, asked = (study(instance, [policy], integer=integer) for integer in (False, True))
    assert found == asked
    assert (found["instance"]["integer"], found["instance"]["unplaced"]) == (True, 1)
    assert "Fair division of a cluster, whole tasks" in page(found)
    assert study(instance, ["drf", policy])["instance"]["integer"] is False
    beside = str(compare(instance, [policy]))
    assert beside.startswith("whole tasks") and "continuous" not in beside


def test_whom_the_notion_of_a_file_leaves_where_it_is_is_counted_so():
    policy = FORMULATIONS / "drf_equality.py"
    document = study(machines(), [policy])
    left = [row.reason for row in explain(machines(), policy).users].count("notion")
    assert document["stops"][0]["notion"] == left > 0
    assert document["stops"][0]["unknown"] == 0


def test_a_page_of_whole_tasks_says_that_prices_are_left_out():
    instance = Instance([[1], [2]], [5])
    assert "drfopt explain --integer" in page(study(instance, ["drf"], integer=True))
    assert "drfopt explain --integer" not in page(study(instance, ["drf"]))


def test_levels_of_changed_clusters_are_said_to_be_of_the_cluster_as_it_is():
    instance = Instance([[1], [2]], {"cpu": 20})
    smaller = sweep(instance, ["1/2", "1"], resource="cpu", jobs=1)
    document = study(instance, ["drf"], sweeps=[smaller], whatifs=[what_if(instance, ["set-capacity cpu=10"])])
    # With 10 cpu both have half of them, which is a quarter of today's.
    assert [step["lowest"] for step in document["sweeps"][0]["steps"]] == pytest.approx([0.25, 0.5])
    assert [row["lowest level"] for row in document["whatifs"][0]["totals"]] == pytest.approx([0.5, 0.25])
    assert "Levels and shares here are of the cluster as it is" in page(document)
    assert "Levels and shares are of the cluster as it is" in figures(document)["sweep-1"].caption
    assert "of the cluster as it is" not in page(study(instance, ["drf"]))


@pytest.mark.parametrize("cluster", [machines, typed], ids=["machines", "types"])
def test_machines_hold_together_what_the_cluster_uses(cluster):
    document = study(cluster())
    for place, allocation in enumerate(document["comparison"]["allocations"]):
        for j, resource in enumerate(allocation["resources"]):
            held = sum(machine["resources"][j]["allocations"][place]["used"] for machine in document["machines"])
            assert held == pytest.approx(resource["used"])


def test_what_stops_users_adds_up_in_a_pool():
    document = study(crowd(60))
    for place, others in enumerate(document["stops"]):
        by_resources = sum(resource["stopped"][place] for resource in document["resources"])
        assert by_resources + sum(others.values()) == 60


def test_an_organisation_is_told_with_its_rules():
    document = study(organised(), ["drf"])
    a, b, c = document["users"]
    assert (a["guarantee"], a["group"], b["ceiling"], c["tier"], c["limit"]) == ("4 cpu", "eng", "20 cpu", 1, 5)
    headings = {tuple(place) for table in Reader(page(document)).tables for place, _ in table["places"]}
    for key in ("group", "tier", "guarantee", "ceiling", "limit"):
        assert ("users", None, key) in headings
    (stops,) = document["stops"]
    assert stops["ceiling"] == 2
    assert sum(stops.values()) + sum(resource["stopped"][0] for resource in document["resources"]) == 3


def test_task_types_are_counted_and_their_demand_is_an_average():
    document = study(typed(), ["drf", "single:gpu"])
    assert [user["types"] for user in document["users"]] == [2, None]
    assert "single:gpu" in document["comparison"]["refusals"]
    assert document["measures"][0]["envious"] is None
    assert "needs for a task, on average" in page(document)


def test_very_many_users_are_cut_to_the_largest_and_counted():
    many = crowd(MOST_ROWS + 50)
    document = study(many, ["drf"])
    text = page(document)
    reader = Reader(text)
    assert max(len(table["rows"]) for table in reader.tables) == MOST_ROWS
    assert "50 more are in the JSON" in text
    assert len(document["users"]) == MOST_ROWS + 50


# ---- the answer first ------------------------------------------------------------------------------


def words_of(markup):
    return " ".join(re.sub(r"<[^>]*>", "", str(markup)).split())


def test_the_first_screen_says_who_is_short_of_what_and_what_to_buy():
    cluster = Instance(
        {"train": {"cpu": 4, "memory": "16Gi", "gpu": 1}, "web": {"cpu": 2, "memory": "4Gi"}, "huge": {"cpu": 500}},
        machines=[
            Machine("gpu", {"cpu": 32, "memory": "128Gi", "gpu": 8}, 4),
            Machine("plain", {"cpu": 64, "memory": "256Gi", "gpu": 0}, 10),
        ],
        max_tasks={"train": 60, "web": 100, "huge": 3},
    )
    document = study(cluster)
    said = words_of(verdict(document))
    assert said == (
        "1 of 3 users, besides 1 unplaced, gets less than asked for: 28 gpu missing on gpu. "
        "With 4 more gpu nobody would be short. 1 user fits nowhere."
    )
    text = page(document)
    summary = words_of(text[text.index('<section id="summary"') : text.index('<section id="bottlenecks"')])
    assert "train 32 of 60 tasks, 53.3 %" in summary
    assert "short of 28 gpu on gpu" in summary
    assert "huge: a machine of plain would have to have 500 of cpu instead of 64" in summary
    assert "128 GiB" not in summary and "512 GiB" in text
    assert not re.search(r"\d\.\d+e\+\d", text[: text.index("<script")])


def test_a_purchase_after_which_as_many_are_short_is_told_by_what_it_meets():
    """Of 4 tasks B has 1; with six cpu more it has 3, and is short as before."""
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 2}}, {"cpu": 5}, max_tasks={"B": 4})
    said = words_of(verdict(study(cluster, ["drf"], integer=True)))
    assert said.endswith("With 6 more cpu 75 % of what is asked for would be met instead of 25 %.")
    capped = Organisation(ceilings={"C": {"cpu": 1}})
    users = {"A": {"cpu": 1}, "C": {"cpu": 1}}
    fewer = study(Instance(users, {"cpu": 2}, max_tasks={"A": 4, "C": 3}, organisation=capped), ["drf"])
    assert words_of(verdict(fewer)).endswith("With 3 more cpu only 1 would be short.")


def test_where_all_is_met_or_no_end_is_named_the_page_says_so():
    met = study(Instance([[1.0]], [9.0], max_tasks=[3]))
    assert words_of(verdict(met)) == "Everybody has all it asked for."
    endless = study(NSDI)
    assert words_of(verdict(endless)).startswith("2 of 2 users ask for tasks without an end; cpu stops them. With 0.9")
    assert page(met) and page(endless)
    both = study(Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 4}, max_tasks={"A": 1}), ["drf"])
    assert words_of(verdict(both)).endswith("With 0.4 more cpu 1 would have more.")
    assert "B 3.4 tasks instead of 3" in words_of(page(both))


def test_what_is_almost_all_does_not_print_as_all_beside_it():
    """B lacks a 500,000th of its tasks, and A leaves a 100,000th of the cpu."""
    cluster = Instance(
        {"A": {"cpu": 1}, "B": {"mem": 1}}, {"cpu": 1, "mem": 5}, max_tasks={"A": "0.99999", "B": "5.00001"}
    )
    text = page(study(cluster, ["drf"]))
    assert "B 5 of 5.00001 tasks, 99.9998 %" in words_of(text)
    found = {
        table["places"][0][0][0]: {cells[0][1]: cells for _, cells in table["rows"]} for table in Reader(text).tables
    }
    cells = {name: [said for _, said in row] for name, row in (found["users"] | found["resources"]).items()}
    assert cells["B"][1:4] == ["5.00001", "5", "<100.0 %"]
    assert cells["cpu"][1:4] == ["1", "0.99999", "<100.0 %"]
    assert cells["mem"][1:4] == ["5", "5.000", "100.0 %"]


@pytest.mark.parametrize(("cpu", "disk", "until"), [
    (1, 5, "1.666"), (1, "3.0001", "1.00003"), (10**5, 314_159, "104,719"), (1, "4.5", "1.5"),
])  # fmt: skip
def test_what_holds_up_to_an_amount_is_not_said_to_hold_beyond_it(cpu, disk, until):
    """More CPU brings tasks to A until three times as much disk is used up."""
    text = page(study(Instance({"A": {"cpu": 1, "disk": 3}}, {"cpu": cpu, "disk": disk}), ["drf"]))
    (rows,) = (table["rows"] for table in Reader(text).tables if table["places"][0][0][0] == "prices")
    assert rows[0][1][4][1] == until


def test_who_fits_nowhere_is_named_beside_those_who_are_short_or_ask_without_an_end():
    """Three of four name no end, one of whom fits nowhere."""
    users = {"a": {"cpu": 1}, "b": {"cpu": 1}, "c": {"cpu": 1}, "huge": {"cpu": 1, "gpu": 1}}
    cluster = Instance(users, {"cpu": 9, "gpu": 0}, max_tasks={"c": 1})
    document = study(cluster, ["drf"])
    assert words_of(verdict(document)).startswith("2 of 4 users, besides 1 unplaced, ask for tasks without an end;")
    three = study(Instance(**(cluster.parts() | {"max_tasks": [None, None, 4, None]})), ["drf"])
    assert words_of(verdict(three)).startswith("1 of 4 users, besides 1 unplaced, gets less than asked for:")
    assert tiles(three)[0][0] == "users short, besides the unplaced"


def test_what_stops_a_user_below_a_ceiling_of_its_group_is_said_to_be_that():
    users = {"a": {"cpu": 1}, "b": {"cpu": 1, "gpu": 1}}
    rules = Organisation(groups=[Group("ops", ceiling={"gpu": 2})], paths={"b": "ops"})
    document = study(Instance(users, {"cpu": 9, "gpu": 9}, organisation=rules), ["drf"])
    raised = {row["name"]: row["raised"] for row in document["short"]["listed"]}
    assert raised["b"].endswith("raises it by an amount to be seen: what stops it is ops ceiling of gpu")
    assert raised["a"].startswith("more of cpu")


def test_queues_are_a_tree_with_what_they_use_and_wait_for():
    document = study(organised(), ["drf"])
    rows = {row["name"]: row for row in document["queues"]}
    assert [(row["name"], row["depth"], row["kind"]) for row in document["queues"]] == [
        ("eng", 0, "group"),
        ("A", 1, "user"),
        ("B", 1, "user"),
        ("C", 0, "user"),
    ]
    for j in range(2):
        members = sum(rows[name]["resources"][j]["used"] for name in "AB")
        assert rows["eng"]["resources"][j]["used"] == pytest.approx(members)
    assert rows["eng"]["resources"][1]["ceiling"] == 160
    assert rows["A"]["resources"][0]["guarantee"] == 4
    assert 'style="padding-left: 22px"' in page(document)
    assert study(NSDI)["queues"] is None


@pytest.mark.parametrize("asked", [5, 50])
def test_what_a_queue_waits_for_has_no_end_where_a_member_s_has_none(asked):
    users = {"a": {"cpu": 2, "gpu": 1}, "b": {"cpu": 1}, "c": {"cpu": 1}}
    rules = Organisation(paths={"a": "g", "b": "g"})
    instance = Instance(users, {"cpu": 100, "gpu": 50}, max_tasks={"a": asked, "c": 50}, organisation=rules)
    found = study(instance, ["drf"])
    pending = {row["name"]: [cell["pending"] for cell in row["resources"]] for row in found["queues"]}
    assert pending["b"] == [None, 0] and pending["g"] == [None, pending["a"][1]]
    assert "which is – where somebody asks without an end" in page(found)


def test_what_a_queue_of_several_types_waits_for_is_of_the_types_that_are_missing():
    types = [TaskType({"cpu": 1, "memory": 8}, 60), TaskType({"cpu": 4, "memory": 32}, 10)]
    rules = Organisation(paths={"etl": "g"}, groups=[Group("g", ceiling={"memory": 696})])
    cluster = [Machine("m", {"cpu": 200, "memory": 2000})]
    instance = Instance({"etl": types}, machines=cluster, organisation=rules)
    for row in study(instance, ["drf"], integer=True)["queues"]:
        assert [row["resources"][j]["used"] + row["resources"][j]["pending"] for j in range(2)] == [100, 800]


def test_a_placement_is_said_to_be_one_of_many_only_where_it_is():
    of_many = study(machines(), ["drf"])
    assert "one placement, and others may give the same tasks" in page(of_many)
    one = study(Instance([[1.0]], machines=[Machine("m", [4.0], 2)]), ["drf"])
    assert "there is no other placement" in page(one)


def test_what_is_missing_is_what_stops_somebody():
    # Most of what the missing tasks would need is cpu, of which there is enough.
    machines = [Machine("m", {"cpu": 10, "mem": 4})]
    cluster = Instance({"A": {"cpu": 3, "mem": 1}, "B": {"mem": 1}}, machines=machines, max_tasks=[5, 2])
    document = study(cluster)
    assert words_of(verdict(document)).startswith("1 of 2 users gets less than asked for: 3 mem missing on m.")
    assert "counted at each" in stops_figure(document).caption
    pool = Instance({"A": {"cpu": 1, "mem": 1}}, {"cpu": 1, "mem": 1})
    for policies, each in (
        (["drf"], "each."),
        (["drf", "ceei"], "each, of a market or a sum at one."),
        (["ceei"], "what it pays most for."),
    ):
        assert stops_figure(study(pool, policies)).caption.endswith(f"counted at {each}")


def test_small_amounts_of_a_queue_have_digits_beside_large_ones_of_another_resource():
    """The digits of a column are those of its resource: 0.15 cores were less than 1 beside 300,000 of mem."""
    rules = Organisation(paths={"A": "q"}, guarantees={"A": {"cpu": "0.3"}})
    cluster = Instance(
        {"A": {"cpu": "0.05", "mem": 99_000}}, {"cpu": "1.6", "mem": 900_000}, max_tasks={"A": 3}, organisation=rules
    )
    html = page(study(cluster))
    table = html.partition('id="table-queues"')[2].partition("</table>")[0]
    assert ">0.15" in table and "&lt;1" not in table
    assert "290 GiB mem" in html


def test_where_nothing_fits_nobody_is_said_to_be_content():
    cluster = Instance({"A": {"cpu": 8}}, machines=[Machine("m", {"cpu": 4}, 3)], max_tasks={"A": 3})
    html = page(study(cluster))
    assert "nobody is short" not in html
    assert "Nobody runs anything: what they ask for fits nowhere." in html
    assert "Nothing more of what there is: see what fits nowhere." in html


def test_resources_stop_some_of_them_where_one_is_at_its_ceiling_alone_though_others_have_two_bottlenecks():
    rules = Organisation(ceilings={"c": {"x": 0}})
    cluster = Instance(
        {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 1}, "c": {"x": 1}}, {"x": 2, "y": 2}, organisation=rules
    )
    text = clean(verdict(study(cluster, ["drf"], integer=True)).striptags())
    assert text.startswith("3 of 3 users ask for tasks without an end; x, y stop some of them.")


def test_who_has_started_all_types_that_fit_is_not_called_unplaced():
    kinds = [TaskType({"x": 1}, 1), TaskType({"x": 5}, 2)]
    document = study(Instance({"a": kinds, "b": {"x": 1}}, {"x": 4}), ["drf"], integer=True)
    assert [user["stopped"] for user in document["users"]] == [["what is left of its tasks fits nowhere"], ["x"]]
