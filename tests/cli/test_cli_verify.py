"""``drfopt verify`` and ``solve --certificate``: statuses, what is printed, and files that are none."""

import json

import pytest


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "alpha:2", "utilitarian"])
@pytest.mark.parametrize("exact", [[], ["--exact"]])
def test_a_certificate_file_is_verified_alone_and_with_its_instance(drfopt, cluster, tmp_path, policy, exact):
    proof = tmp_path / "proof.json"
    ran = drfopt("solve", cluster, "-p", policy, *exact, "--certificate", proof)
    assert ran.status == 0
    assert json.loads(proof.read_text())["schema"] == "drfopt certificate 1"
    assert drfopt("verify", proof).status == 0
    ran = drfopt("verify", cluster, proof, "--json")
    assert ran.status == 0
    found = json.loads(ran.out)
    assert found["valid"] is True
    assert found["accuracy"] == (0 if exact else 1e-9)
    assert all(set(check) == {"name", "holds", "worst"} and check["holds"] for check in found["checks"])


def test_an_answer_is_verified_against_its_instance(drfopt, cluster, tmp_path):
    answer = tmp_path / "answer.json"
    drfopt("solve", cluster, "--json", "-o", answer)
    ran = drfopt("verify", cluster, answer)
    assert ran.status == 0
    assert "held to" in ran.out
    document = json.loads(answer.read_text())
    document["users"][0]["tasks"] *= 1 - 1e-6
    answer.write_text(json.dumps(document))
    ran = drfopt("verify", cluster, answer)
    assert ran.status == 1
    assert "FAILS" in ran.out and "NOT valid" in ran.out
    assert drfopt("verify", cluster, answer, "--json").status == 1


def test_the_answer_to_another_instance_is_wrong(drfopt, cluster, tmp_path):
    proof, other = tmp_path / "proof.json", tmp_path / "other.toml"
    drfopt("solve", cluster, "--exact", "--certificate", proof)
    other.write_text(cluster.read_text().replace("cpu = 9", "cpu = 10"))
    ran = drfopt("verify", other, proof, "--json")
    assert ran.status == 1
    wrong = [check["name"] for check in json.loads(ran.out)["checks"] if not check["holds"]]
    assert "the instance is the one of the file" in wrong


def test_what_lacks_a_proof_is_not_decided(drfopt, tmp_path):
    answer = tmp_path / "answer.json"
    drfopt("solve", "sec72", "--json", "-o", answer)
    assert drfopt("verify", "sec72", answer).status == 0
    document = json.loads(answer.read_text())
    assert document.pop("proof")["rounds"]
    answer.write_text(json.dumps(document))
    ran = drfopt("verify", "sec72", answer, "--json")
    assert ran.status == 3
    assert json.loads(ran.out)["valid"] is None


def test_bad_files_are_told_in_a_line(drfopt, cluster, tmp_path, refused):
    bad = tmp_path / "bad.json"
    for text, words in (
        ("{", "bad.json"),
        ("[1]", "an object with keys"),
        ('{"policy": "drf"}', "solve --certificate"),
        ('{"users": [], "users": []}', "stands twice"),
        ('{"x": 1e99999999}', "beyond the range"),
        ("[" * 100_000, "bad.json"),
    ):
        bad.write_text(text)
        refused(drfopt("verify", cluster, bad), words)
    refused(drfopt("verify", cluster, tmp_path / "none.json"), "none.json")
    refused(drfopt("verify", "nsdi2011"), "nsdi2011")
    refused(drfopt("solve", cluster, "--certificate", tmp_path), "is a folder")
    refused(drfopt("solve", cluster, "--certificate", "-"), "'-' names nothing to write here: only -o")
    refused(drfopt("solve", cluster, "--exact", "-p", "ceei", "--precision", "2"), "precision")
    refused(
        drfopt("solve", cluster, "--exact", "-p", "ceei", "--precision", "x"),
        "(--precision): 'x' is not a number: write a rel",
    )
    refused(drfopt("solve", cluster, "-p", "ceei", "--precision", "1e-9"), "exact=True")


def test_a_narrow_enclosure_is_printed_with_its_ends(drfopt, tmp_path):
    path = tmp_path / "theorem5.toml"
    rows = "".join(
        f'[[users]]\nname = "u{i}"\ndemand = {{ r = {a}, s = {b} }}\n' for i, a, b in ((1, 4, 1), (2, 1, 16))
    )
    path.write_text(f'[capacity]\nr = 100\ns = 100\n{rows}[[users]]\nname = "u3"\ndemand = {{ r = 16, s = 1 }}\n')
    ran = drfopt("solve", path, "-p", "ceei", "--exact", "--precision", "1e-50", "--json")
    assert ran.status == 0
    ends = json.loads(ran.out)["users"][0]["tasks"]
    assert set(ends) == {"lower", "upper"}
    answer = tmp_path / "answer.json"
    answer.write_text(ran.out)
    assert drfopt("verify", path, answer).status == 0
    document = json.loads(ran.out)
    del document["proof"]
    answer.write_text(json.dumps(document))
    assert drfopt("verify", path, answer).status == 3, "the ends alone are no proof"


def test_a_library_instance_without_an_answer_is_asked_for_one(drfopt):
    ran = drfopt("verify", "nsdi2011")
    assert ran.status == 2
    assert "is a library instance and no file: name the answer after it" in ran.err
