"""What a run was made on: processor, cores, memory, versions; no names of people, hosts or folders."""

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

__all__ = ["described"]

PACKAGES = ("numpy", "scipy", "highspy", "cvxpy-base", "clarabel", "scs", "pulp", "cvxpy-leximin")


def described() -> dict[str, str]:
    """Return what there is, in words."""
    busy = getattr(os, "getloadavg", lambda: (float("nan"),))()[0]
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "load at the start": f"{busy:.1f}",
        "python": platform.python_version(),
        "drfopt": _version("drfopt"),
        **{package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str:
    if package == "drfopt":
        import drfopt

        return drfopt.__version__
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (AttributeError, ValueError, OSError):
        return "unknown"
