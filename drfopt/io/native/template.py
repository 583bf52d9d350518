"""The commented instance file that ``drfopt new`` prints."""

from importlib.resources import files

__all__ = ["text"]


def text() -> str:
    """Return a commented instance file that solves as it is."""
    return (files(__package__) / "template.toml").read_text(encoding="utf-8")
