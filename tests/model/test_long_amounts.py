"""Amounts of any length are solved, proven and verified; only instance files refuse those that they cannot hold."""

import json
from fractions import Fraction

import pytest

from drfopt.base.errors import InstanceError
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import verify
from drfopt.certificates.verifier.reading import loads
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve


@pytest.fixture
def long_amounts():
    third = Fraction(10**450 + 1, 3 * 10**450)
    return Instance([[1, third], [third, 1], [1, 1]], [1, third + 1])


@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "utilitarian"])
def test_long_amounts_are_proven_and_verified(long_amounts, policy):
    # The best lie against a market of whole numbers is such a report: an audit asks for its equilibrium.
    found = solve(long_amounts, policy, exact=True)
    assert found.certificate.valid
    assert verify(loads(json.dumps(certificate_document(found)))).valid


def test_long_amounts_are_not_written_as_an_instance(long_amounts, tmp_path):
    with pytest.raises(InstanceError, match=r"the cluster has an amount near 1.33333 with more than 400 digits: round"):
        long_amounts.save(tmp_path / "long.toml")
