"""The repository's own source, parsed: what the house tests look at."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """A Python file of the repository: its path, its dotted name, its tree (parsed once, when somebody asks)."""

    path: Path
    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree: a dozen tests look at each of them."""
        return tuple(ast.walk(self.tree))

    @property
    def place(self) -> str:
        return self.path.relative_to(REPOSITORY).as_posix()

    @property
    def unit(self) -> str:
        """The file or folder of the package it belongs to: ``engines`` of ``drfopt.engines.sums``."""
        return self.name.split(".")[1] if "." in self.name else self.name


@cache
def modules(folder: str) -> tuple[Module, ...]:
    """Return the modules of a folder of the repository, in alphabetical order."""
    found = []
    for path in sorted((REPOSITORY / folder).rglob("*.py")):
        parts = list(path.relative_to(REPOSITORY).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found.append(Module(path, ".".join(parts), path.read_text(encoding="utf-8")))
    return tuple(found)


def imports(module: Module) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of everything the module imports, at its top, inside functions or for types only."""
    package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:
                parents = package.split(".")
                above = parents[: len(parents) - node.level + 1]
                home = ".".join([*above, home] if home else above)
            for name in node.names:
                yield node.lineno, f"{home}.{name.name}"


def foreign(module: Module) -> Iterator[tuple[int, str]]:
    """Yield line and top-level name of what comes from neither the standard library nor the module's own folder."""
    for line, name in imports(module):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top != module.name.partition(".")[0]:
            yield line, top
