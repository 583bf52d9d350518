"""Objects of Kubernetes as YAML documents, below comments that say where they come from."""

from collections.abc import Iterable, Mapping
from typing import Any

from ...model.allocation import Allocation
from ..native.writing import yaml_text

__all__ = ["document", "heading"]


def document(version: str, kind: str, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """Return one object as a document of its own."""
    return "---\n" + yaml_text({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})


def heading(allocation: Allocation, lines: Iterable[str]) -> str:
    """Return comments: the policy and the instance, and what was lost to rounding."""
    kind = "whole tasks" if allocation.integer else "divisible tasks"
    title = f" of {allocation.instance.name}" if allocation.instance.name else ""
    said = [f"{allocation.policy}, {kind}{title}", *lines]
    return "".join(f"# {line}\n" for text in said for line in text.splitlines())
