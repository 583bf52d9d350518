"""What a stranger looks for is two clicks from README, in files that say it."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
CLICKS = 2

SOUGHT = {
    "how to install": ("README.md", r"pip install -q \."),
    "the program that ceei solves": ("docs/policies/ceei.md", r"(?s)## Program.*\\max_{x.*KKT"),
    "how to add a policy": ("CONTRIBUTING.md", r"- \*\*a policy\*\*: a row in"),
    "what a certificate proves": ("docs/theory/certificates.md", r"(?i)theorem|proves"),
    "the reference of solve": ("drfopt/solving/allocating.py", r'(?s)def solve\(.*"""Return.*Parameters.*Raises'),
}


def reached(start: Path) -> dict[Path, int]:
    """Return the files that links lead to, and after how many clicks."""
    found, pages = {start: 0}, [start]
    for page in pages:
        if found[page] == CLICKS or page.suffix != ".md":
            continue
        for link in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if ":" not in link and target.is_file() and target not in found:
                found[target] = found[page] + 1
                pages.append(target)
    return found


@pytest.mark.parametrize("what", SOUGHT)
def test_a_stranger_finds_it(what):
    place, says = SOUGHT[what]
    assert REPOSITORY / place in reached(REPOSITORY / "README.md")
    assert re.search(says, (REPOSITORY / place).read_text(encoding="utf-8"))
