"""The papers of the house: version, licence and citation say the same everywhere."""

import hashlib
import re
import tomllib

import yaml
from house_source import REPOSITORY

import drfopt

APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of https://www.apache.org/licenses/LICENSE-2.0.txt, its text untouched."""

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_licence_is_apache_2():
    assert hashlib.sha256((REPOSITORY / "LICENSE").read_bytes()).hexdigest() == APACHE
    assert PROJECT["license"] == CITATION["license"] == "Apache-2.0"


def test_the_version_is_one():
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    latest, date = re.search(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", changelog, re.MULTILINE).groups()
    assert latest == CITATION["version"] == drfopt.__version__
    assert date == str(CITATION["date-released"])


def test_the_citation_has_what_its_format_asks_for():
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    assert [author["name"] for author in CITATION["authors"]] == [author["name"] for author in PROJECT["authors"]]
    (paper,) = CITATION["references"]
    assert {"type", "title", "authors"} <= paper.keys()
    assert paper["authors"][0]["family-names"] == "Ghodsi"
