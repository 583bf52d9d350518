"""Instances from files and into files: what `Instance.load`, `Instance.save` and `Instance.library` open."""

from .library import load as library
from .native.reading import load
from .native.writing import save

__all__ = ["library", "load", "save"]
