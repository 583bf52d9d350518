"""What has to hold before a change is taken, beside what ``pytest`` runs: lint, types, and all that takes longer.

Run both with the Python of an environment that has the package and its extra ``dev``::

    pytest
    python tests/run.py

The steps run in this order; the first that fails ends it, and its exit status is the script's.
"""

import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

STEPS = (
    ("lint", ("ruff", "check", ".")),
    ("format", ("ruff", "format", "--check", ".")),
    ("types", ("mypy",)),
    (
        "slow tests, benchmarks in small, manual, page in a browser, wheel",
        ("pytest", "-m", "slow or browser or wheel", "--durations", "10"),
    ),
)
"""Name of each step, and the module and arguments that make it."""


def main() -> int:
    """Run the steps and return the first exit status that is not 0."""
    begun = time.perf_counter()
    for number, (name, command) in enumerate(STEPS, start=1):
        print(f"--- {number}/{len(STEPS)} {name}: python -m {' '.join(command)}", flush=True)
        since = time.perf_counter()
        status = subprocess.run([sys.executable, "-m", *command], cwd=REPOSITORY).returncode
        print(f"    {time.perf_counter() - since:.0f} s", flush=True)
        if status:
            print(f"--- failed: {name} (exit status {status})", flush=True)
            return status if status > 0 else 128 - status
    print(f"--- all {len(STEPS)} steps passed in {time.perf_counter() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
