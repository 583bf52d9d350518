"""The page of a production cluster: 457 users on 27 classes, as a new user would make it."""

import pytest

from benchmarks.organisations import departments
from drfopt.io.readers.asking import read
from drfopt.reporting import page, study
from drfopt.reporting.figures import figures

LARGEST = 2e6
"""Bytes: what opens at once from a mail or a shared folder."""


@pytest.fixture(scope="module")
def document(data_folder):
    folder = data_folder / "openb"
    cluster = read("openb", [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_gpuspec33.csv"]).instance
    return study(cluster)


def test_classes_hold_what_the_cluster_uses(document):
    for place, allocation in enumerate(document["comparison"]["allocations"]):
        for j, resource in enumerate(allocation["resources"]):
            held = sum(machine["resources"][j]["allocations"][place]["used"] for machine in document["machines"])
            assert held == pytest.approx(resource["used"], rel=1e-6)


def test_everybody_is_counted_once(document):
    for place, others in enumerate(document["stops"]):
        counted = sum(others.values()) + sum(resource["stopped"][place] for resource in document["resources"])
        assert counted == document["instance"]["users"]
        assert others["unplaced"] == document["instance"]["unplaced"] == 1


def test_the_page_is_small_and_has_every_figure(document):
    text = page(document)
    assert len(text.encode()) < LARGEST
    assert list(figures(document)) == ["holdings", "shares", "stops", "classes", "fairness"]
    assert text.count('class="drawing"') == 2 + 2 + 2 + 2 + 3


def test_in_departments_what_holds_who_is_short_is_priced(data_folder):
    folder = data_folder / "openb"
    cluster = read("openb", [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_gpuspec33.csv"]).instance
    found = study(departments(cluster), ["drf"])
    assert found["prices"]["partly"] is True
    assert {row["name"] for row in found["prices"]["units"]} == {"T4-96cpu-384GiB-4gpu", "T4-104cpu-512GiB-2gpu"}
    assert all(row["tasks"] > 0 for row in found["prices"]["units"])
    assert "one more T4-96cpu-384GiB-4gpu" in found["advice"]["to_buy"][0]["one_more"]
    assert "Only what holds somebody who is short is priced here" in page(found)
