"""The command line: a small file for a command or two, the shared options in `options`, exit statuses in `status`."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line on `arguments` (``sys.argv`` by default) and exit with its status."""
    try:
        from .app import program
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    program(arguments, prog_name="drfopt")
