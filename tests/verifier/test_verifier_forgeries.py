"""Whatever is changed in a file of any kind: it is refused or left open, or what it then says is so."""

import copy
import json
import random

import jsonschema
import pytest
from forgeries import KINDS, claim_of, files, forge, is_so, tried

from drfopt import schema
from drfopt.certificates.verifier import loads, verify


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_forged_is_not_accepted_unless_it_is_so(name):
    count = tried(name, 40, seed=1, tell=print)
    assert not count["accepted"] and not count["fault"]
    assert count["refused"] + count["left open"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_of_ten_thousand_forgeries_of_each_kind_none_is_accepted_unless_it_is_so(name, some):
    count = tried(name, some(10_000), seed=2, tell=print)
    assert not count["accepted"] and not count["fault"]
    assert count["refused"] + count["left open"] > some(6_000)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", KINDS)
def test_files_of_every_kind_are_what_their_schema_says(name):
    validator = jsonschema.Draft202012Validator(
        schema("audit-certificate" if "audits" in files(name)[0] else "certificate")
    )
    for data in copy.deepcopy(files(name)):
        for user in data.get("users", ()):
            user.setdefault("level", 0)
        assert validator.is_valid(data), [error.message for error in validator.iter_errors(data)][:1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in KINDS if "bounds" not in name])
def test_what_judges_forgeries_tells_what_is_not_so(name):
    """The judge is no rubber stamp: a genuine file is so, and of those with another claim most are not."""
    chance, wrong, other = random.Random(name), 0, 0
    assert verify(loads(json.dumps(files(name)[0]))).valid and is_so(copy.deepcopy(files(name)[0]))
    while other < 12:
        found, data, ways = forge(chance, files(name))
        if not ways.startswith("claimed") or " and " in ways or data == found or claim_of(data) == claim_of(found):
            continue
        other += 1
        try:
            wrong += not is_so(data)
        except Exception:  # It is no claim at all.
            wrong += 1
    assert wrong > 3
