"""Verdicts in which one thing was changed: what is accepted all the same is so, as solving and auditing again say."""

import copy
import json
import random
from fractions import Fraction as F

import pytest
from forging import at, attack, numbers
from test_verifier_audits import HELD, LOST, file_of

from drfopt import audit, solve
from drfopt.axioms.theorems import THEOREMS
from drfopt.certificates.verifier import loads, number, verify
from drfopt.io.native.reading import loads as read

WORDS = ("user", "other", "property", "policy", "verdict")
"""Keys whose texts are changed for those of other files."""

KINDS = ("number", "number", "word", "swapped", "traded", "dropped", "other", "verdict")


@pytest.fixture(scope="module")
def genuine():
    files = [file_of(*given[:3], **given[3]) for given in [*LOST, *HELD]]
    files += [loads(json.dumps(theorem.certificate())) for theorem in THEOREMS if theorem.audited]
    assert all(verify(copy.deepcopy(data)).valid for data in files)
    return files


def words(tree, path=()):
    """Return the paths of all texts that say who, what or which."""
    if isinstance(tree, dict):
        own = [(*path, key) for key, value in tree.items() if key in WORDS and isinstance(value, str)]
        return own + [p for key, value in tree.items() for p in words(value, (*path, key))]
    return [p for k, value in enumerate(tree) for p in words(value, (*path, k))] if isinstance(tree, list) else []


def answers(data):
    for one in data["audits"]:
        yield one["truth"]
        for finding in one["findings"]:
            yield from finding.get("after", [])


def forger(files):
    """Return what changes one thing in a file, with what others of these files have."""

    def forge(chance, found):
        data, kind = copy.deepcopy(found), chance.choice(KINDS)
        findings = [finding for one in data["audits"] for finding in one["findings"]]
        finding, rows = chance.choice(findings), chance.choice(list(answers(data)))["users"]
        if kind == "number":
            path = chance.choice(numbers(data["audits"], ("audits",)))
            old = number(at(data, path))
            new = chance.choice([2 * old, -old, old + 1, old / 2, F(0), old * F(10**6 + 1, 10**6)])
            at(data, path[:-1])[path[-1]] = int(new) if new.denominator == 1 else str(new)
        elif kind == "word":
            path = chance.choice(words(data))
            others = sorted({at(file, p) for file in files for p in words(file) if p[-1] == path[-1]})
            at(data, path[:-1])[path[-1]] = chance.choice(others)
        elif kind in ("swapped", "traded") and len(rows) > 1:
            one, other = chance.sample(rows, 2)
            for row in rows:
                row.pop("level", None)
            part = (
                F(0) if isinstance(one["tasks"], dict) or isinstance(other["tasks"], dict) else number(one["tasks"]) / 3
            )
            if kind == "swapped":
                one["tasks"], other["tasks"] = other["tasks"], one["tasks"]
            elif part:
                one["tasks"], other["tasks"] = str(number(one["tasks"]) - part), str(number(other["tasks"]) + part)
        elif kind == "dropped":
            if finding.get("after") and chance.random() < 0.5:
                del finding["after"][chance.randrange(len(finding["after"]))]
            else:
                finding.pop(chance.choice(list(finding)))
        elif kind == "other":
            key = chance.choice(["truth", "findings"])
            chance.choice(data["audits"])[key] = copy.deepcopy(chance.choice(chance.choice(files)["audits"])[key])
        else:
            finding["verdict"] = "fails" if finding["verdict"] == "holds" else "holds"
        return data, kind

    return forge


def is_answer(told):
    """Say whether an answer of a file is what is found when its instance is solved again."""
    instance = read(json.dumps(told["instance"], default=str), "json")
    exact = not told.get("integer") and not any(isinstance(row["tasks"], dict) for row in told["users"])
    best = solve(instance, told["policy"], exact=exact, integer=bool(told.get("integer")))
    for row, found in zip(told["users"], best.tasks.tolist(), strict=True):
        tasks = row["tasks"]
        if isinstance(tasks, dict):
            low, high = (float(number(tasks[end])) for end in ("lower", "upper"))
            if not low * (1 - 1e-9) <= found <= high * (1 + 1e-9):
                return False
        elif number(tasks) != F(found):
            return False
    return True


def is_so(data):
    """Say whether the audits of the file's instances, made again, come to its verdicts."""
    for one in data["audits"]:
        truth = one["truth"]
        instance = read(json.dumps(truth["instance"], default=str), "json")
        if not is_answer(truth):
            return False
        for finding in one["findings"]:
            found = audit(instance, truth["policy"], finding["property"], integer=bool(truth.get("integer")))
            (again,) = found.certificate()["audits"][0]["findings"]
            if (again["verdict"] == "fails") != (finding["verdict"] == "fails"):
                return False
    return True


def test_forged_verdicts_are_refused_unless_they_are_so(genuine):
    assert attack(genuine, 60, seed=1, forge=forger(genuine), right=is_so) > 40


@pytest.mark.slow
def test_ten_thousand_forged_verdicts(genuine, some):
    assert attack(genuine, some(10_000), seed=2, forge=forger(genuine), right=is_so) > some(7_000)


def test_what_judges_forgeries_tells_a_wrong_verdict(genuine):
    """The judge of these tests is no rubber stamp."""
    data = copy.deepcopy(random.Random(0).choice(genuine))
    assert is_so(data)
    for finding in data["audits"][0]["findings"]:
        finding["verdict"] = "fails" if finding["verdict"] == "holds" else "holds"
    assert not is_so(data)
