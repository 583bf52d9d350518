"""README's picture, drawn by the package into a file, by default the one that is committed."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(DOCS.parent))

from drfopt import Instance, compare  # noqa: E402
from drfopt.reporting import plot_comparison  # noqa: E402

PICTURE = DOCS / "_static/policies.svg"


def draw(path: Path) -> None:
    """Draw who holds what under three policies; the file depends on the numbers alone."""
    plot_comparison(compare(Instance.library("nsdi2011"), ["drf", "asset", "ceei"])).save(path)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
