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
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))


WORDS, LINES = 2_500, 4
"""What somebody reads before an update, in some minutes, and of one entry."""


def test_the_licence_is_apache_2():
    assert hashlib.sha256((REPOSITORY / "LICENSE").read_bytes()).hexdigest() == APACHE
    assert PROJECT["license"] == CITATION["license"] == "Apache-2.0"


def test_the_version_is_one():
    latest, date = re.search(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", CHANGELOG, re.MULTILINE).groups()
    assert latest == CITATION["version"] == drfopt.__version__
    assert date == str(CITATION["date-released"])


def test_the_citation_has_what_its_format_asks_for():
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    assert [author["name"] for author in CITATION["authors"]] == [author["name"] for author in PROJECT["authors"]]
    (paper,) = CITATION["references"]
    assert {"type", "title", "authors"} <= paper.keys()
    assert paper["authors"][0]["family-names"] == "Ghodsi"


def test_what_came_since_the_last_version_is_read_in_some_minutes():
    section = CHANGELOG[CHANGELOG.index("## [Unreleased]") : CHANGELOG.index(f"## [{drfopt.__version__}]")]
    advice = (
        "say what a user must know in one line of its group; after a merge: git checkout main -- CHANGELOG.md first"
    )
    assert len(section.split()) <= WORDS, advice
    headings = re.findall(r"^### (.*)$", section, re.MULTILINE)
    assert len(headings) == len(set(headings)), advice
    entries = re.split(r"^- ", section, flags=re.MULTILINE)[1:]
    assert not [entry for entry in entries if len(entry.split("\n\n")[0].strip().splitlines()) > LINES], advice
