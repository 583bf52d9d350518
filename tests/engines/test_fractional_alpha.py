"""Alpha fairness in exact numbers where alpha is no whole number: powers between fractions, by integer roots."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction as F

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drfopt.base.errors import EngineError
from drfopt.base.numbers.enclosures import Enclosure, lower, upper
from drfopt.certificates.bounds import tangent_loss
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, powers, verify
from drfopt.model.document import document
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Group, Organisation
from drfopt.solving.allocating import solve


@given(st.integers(1, 10**40), st.integers(-1, 1), st.integers(1, 60))
def test_a_root_is_rounded_down(root, off, degree):
    value = max(root**degree + off, 1)
    found = powers.floor_root(value, degree)
    assert found**degree <= value < (found + 1) ** degree


def test_a_root_of_many_digits_begins_above():
    # A float of the logarithm is off by more than the last digits of the root.
    for degree in (1, 2, 3):
        root = 3**10_000 + 1
        assert powers.floor_root(root**degree, degree) == root
        assert powers.floor_root(root**degree - 1, degree) == root - 1


@given(st.fractions(F(1, 10**20), 10**20), st.fractions(-5, 5, max_denominator=12), st.integers(1, 40), st.booleans())
def test_a_power_is_between_its_ends(base, exponent, digits, perfect):
    base = base**exponent.denominator if perfect else base
    low, high = powers.power_between(base, exponent, digits)
    degree, value = exponent.denominator, base**exponent.numerator
    assert low**degree <= value <= high**degree
    assert high - low <= low / 10**digits
    assert not perfect or low == high


@given(st.sampled_from([F(1, 10), F(1, 4), F(1, 2), F(3, 4), F(1), F(3, 2), F(4)]), st.integers(1, 50_000))
@example(F(1, 10), 2_000)
def test_no_tangent_is_said_to_lose_more_than_it_does(alpha, thousandths):
    s, power = F(thousandths, 1_000), Decimal(float(1 - alpha)) if alpha != F(1, 10) else Decimal("0.9")
    with localcontext() as context:
        context.prec = 60
        there = Decimal(thousandths) / 1_000
        true = there - 1 - ((there**power - 1) / power if power else there.ln())
    assert tangent_loss(F(1), F(1), s, alpha) <= F(true) + F(1, 10**40)


# Policy, how much more of the idle resource than of the scarce one the second user takes, and its tasks for one of the
# first: of  r^(1 - alpha) x^-alpha = p  they are  r^(1 / alpha - 1).
TWO_USERS = [
    ("alpha:0.5", F(5, 4), F(5, 4)),
    ("alpha:0.4", F(36, 25), F(216, 125)),
    ("alpha:0.25", F(5, 4), F(125, 64)),
    ("alpha:1.5", F(125, 64), F(4, 5)),
    ("alpha:2.5", F(8**5, 7**5), F(7**3, 8**3)),
]


@pytest.mark.parametrize(("policy", "rate", "tasks"), TWO_USERS)
@pytest.mark.parametrize("cluster", ["pool", "machines", "groups"])
def test_a_scarce_resource_is_divided_in_closed_form(policy, rate, tasks, cluster):
    demands, rules = {"A": {"cpu": 1}, "B": {"cpu": 1, "memory": rate}}, None
    room: dict = {"capacity": {"cpu": 30, "memory": 30}}
    if cluster == "machines":
        room = {"machines": [Machine("a", {"cpu": 10, "memory": 10}, 2), Machine("b", {"cpu": 10, "memory": 10}, 1)]}
    if cluster == "groups":
        rules = Organisation(groups=(Group("g", ceiling={"memory": 30}),), paths={"A": "g"})
    instance = Instance(demands, **room, organisation=rules)
    found = solve(instance, policy, exact=True, precision="1e-40")
    assert found.certificate.valid
    for x, true in zip(found.tasks, (30 / (1 + tasks), 30 * tasks / (1 + tasks)), strict=True):
        assert lower(x) <= true <= upper(x)
        assert upper(x) - lower(x) <= upper(x) / 10**40
    assert file_of(found).valid is True


def file_of(allocation, changed=None):
    """Return what the verifier says of the certificate file, some of whose tasks are changed."""
    data = json.loads(json.dumps(certificate_document(allocation)))
    for i, tasks in (changed or {}).items():
        data["users"][i]["tasks"] = tasks
    return verify(loads(json.dumps(data)), document(allocation.instance))


@pytest.mark.parametrize("policy", ["alpha:0.5", "alpha:0.1", "alpha:1.5"])
def test_an_enclosure_beside_the_optimum_is_no_proof(policy):
    instance = Instance([[4, 1], [1, 16], [16, 1]], [100, 100])
    found = solve(instance, policy, exact=True)
    assert file_of(found).valid is True
    x = found.tasks[0]
    assert isinstance(x, Enclosure)
    for low, high in ((x.lower, x.lower), (x.upper, x.upper * 2), (x.lower / 2, x.lower)):
        assert file_of(found, {0: {"lower": str(low), "upper": str(high)}}).valid is not True


def test_what_is_at_a_limit_is_a_fraction_and_a_tier_after_it_has_the_rest():
    demands = {"A": {"cpu": 1}, "B": {"cpu": 1}, "C": {"cpu": 1, "memory": 2}}
    limits = {"A": 3}
    instance = Instance(demands, {"cpu": 9, "memory": 18}, max_tasks=limits, organisation=Organisation(tiers={"A": 1}))
    found = solve(instance, "alpha:0.5", exact=True)
    assert found.tasks[0] == 3 and isinstance(found.tasks[0], F)
    assert lower(found.tasks[1]) <= 3 <= upper(found.tasks[1])
    assert file_of(found).valid is True


def test_an_alpha_of_too_many_digits_is_refused():
    with pytest.raises(EngineError, match=r"roots of degree 10,000.*1,000 at most"):
        solve(Instance.library("nsdi2011"), "alpha:0.0001", exact=True)


def test_an_alpha_of_two_digits_has_roots_of_that_degree():
    found = solve(Instance.library("nsdi2011"), "alpha:0.99", exact=True)
    assert found.certificate.valid and file_of(found).valid is True


def test_who_has_all_there_is_pays_a_price_of_as_many_digits_as_its_worth_is_known_to():
    # Its enclosure is a number, and only digits tell that a task costs no more than it is worth.
    rules = Organisation(groups=(Group("g"), Group("g/h")), paths={"A": "g/h", "B": "g"})
    cluster = Instance({"A": {"memory": 3}, "B": {"cpu": 3}}, {"cpu": 7, "memory": 10**12}, organisation=rules)
    found = solve(cluster, "alpha:0.5", exact=True)
    assert [(lower(x), upper(x)) for x in found.tasks] == [(F(10**12, 3),) * 2, (F(7, 3),) * 2]
    assert file_of(found).valid is True
