"""Evidence is a dataclass for each kind of proof, and a certificate's kind says which."""

from dataclasses import is_dataclass

import pytest

from drfopt import Allocation, CertificateError, DrfoptError, Group, Instance, Machine, Organisation, solve
from drfopt.model.evidence import (
    BoundsEvidence,
    ChainEvidence,
    Evidence,
    PriceEvidence,
    QuotedEvidence,
    StopEvidence,
    WholeEvidence,
)

POOL = Instance.library("nsdi2011")
RACK = Instance([[1, 4], [3, 1]], machines=[Machine("a", [9, 18]), Machine("b", [4, 4], 2)])
RULED = Instance(
    {"A": {"cpu": 1}, "B": {"cpu": 2}},
    {"cpu": 9},
    organisation=Organisation({"A": {"cpu": 5}}, paths={"A": "g"}, groups=[Group("g", ceiling={"cpu": 6})]),
)
NOBODY = Instance([[1, 1]], [0, 5])
NO_MACHINE = Instance([[9, 9]], machines=[Machine("a", [1, 1])])
CLUSTERS = {"pool": POOL, "rack": RACK, "ruled": RULED, "nobody": NOBODY, "no machine": NO_MACHINE}


EVIDENCE = {
    "bottleneck": Evidence,  # of floats in a pool `BottleneckEvidence`: the levels are the proof
    "chain": ChainEvidence,
    "prices": PriceEvidence,
    "duals": PriceEvidence,
    "enclosures": PriceEvidence,
    "bounds": BoundsEvidence,
    "stops": StopEvidence,
    "bound": WholeEvidence,
    "servers": Evidence,
    "feasibility": Evidence,
}
"""What a certificate of each kind has as its evidence, at least."""


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("policy", ["drf", "ceei", "utilitarian", "per-server"])
@pytest.mark.parametrize("how", [{}, {"exact": True}, {"integer": True}], ids=["floats", "exact", "whole"])
def test_a_kind_of_certificate_has_its_kind_of_evidence(name, policy, how):
    try:
        found = solve(CLUSTERS[name], policy, **how).certificate
    except DrfoptError:
        return  # Refused by name, which other tests hold it to.
    assert is_dataclass(found.evidence)
    # Of a cluster where nobody can run anything the answer needs no proof.
    assert isinstance(found.evidence, EVIDENCE[found.kind]) or (
        name in ("nobody", "no machine") and isinstance(found.evidence, Evidence)
    )


def test_evidence_that_is_not_there_is_refused():
    told = Allocation.from_dict(solve(RACK).to_dict()).certificate
    assert isinstance(told.evidence, QuotedEvidence)
    assert solve(RACK).certificate.proof(ChainEvidence).rounds
    with pytest.raises(CertificateError, match="without its proof"):
        told.proof(ChainEvidence)
