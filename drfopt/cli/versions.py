"""Which versions an answer was computed with."""

__all__ = ["versions"]

COMPUTING = ("numpy", "highspy")
"""Packages whose version may show in the numbers."""


def versions() -> str:
    """Return ``"drfopt 0.1.0, numpy 2.4.6, highspy 1.15.1"`` without importing them."""
    from importlib.metadata import PackageNotFoundError, version

    from .. import __version__

    found = [f"drfopt {__version__}"]
    for package in COMPUTING:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} (not installed)")
    return ", ".join(found)
