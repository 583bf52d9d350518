"""What of the manual is made at build: tables of the registries, the claims, the command line, figures, the gallery.

Everything comes from the package's own commands, and lands in ``docs/generated``, which is not committed.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import measured

from benchmarks import headlines, page
from drfopt.axioms import claims as claim_rows
from drfopt.cli import coverage as answers
from drfopt.cli.app import program
from drfopt.io.documents.published import DOCUMENTS, schema
from drfopt.solving.methods.second_methods import second_authors

DOCS = Path(__file__).resolve().parent.parent
REPOSITORY = DOCS.parent
GENERATED = DOCS / "generated"
PARTS, FIGURES = GENERATED / "parts", GENERATED / "figures"

TABLES = ("policies", "engines", "formats", "rules", "library", "scenarios")
"""Commands whose table is shown as it is."""

FAMILIES = {
    "Leximin (drf, asset, single, tasks, tsf)": "drf",
    "Markets (ceei, alpha)": "ceei",
    "Sums (utilitarian, throughput)": "utilitarian",
    "Machine by machine (per-server)": "per-server",
    "A formulation file": "file",
}
"""Families of policies, and who stands for each in the table of what can be asked."""

PICTURE = "image/svg+xml"
"""What a notebook shows of a drawing."""

PICTURES = {
    "sweep": ("whatif", "nsdi2011", "--sweep", "cpu=3..30/3", "--plot"),
    "two-users": ("simulate", "two-users", "--plot"),
}
"""Figures that one command draws into the file that it is given last."""


def drfopt(*arguments: str) -> str:
    """Return what a command prints."""
    ran = subprocess.run(
        [sys.executable, "-m", "drfopt", *arguments], capture_output=True, text=True, encoding="utf-8", cwd=REPOSITORY
    )
    if ran.returncode:
        raise RuntimeError(f"drfopt {' '.join(arguments)}: exit status {ran.returncode}\n{ran.stderr}")
    return ran.stdout


def part(name: str, text: str) -> None:
    """Write a piece that pages include."""
    (PARTS / f"{name}.md").write_text(text, encoding="utf-8")


def row(cells: list[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


def claims() -> None:
    """Write the claims on each policy, every one proven again as this runs."""
    found: dict[str, list[dict[str, Any]]] = {}
    for claim in json.loads(drfopt("theorems", "--json")):
        found.setdefault(claim["policy"], []).append(claim)
    heading = row(["property", "domain", "verdict", "instance", "because"]) + row(["---"] * 5)
    for policy, rows in found.items():
        lines = [
            row([r["property"], r["domain"], r["verdict"], f"`{r['instance']}`" if r["instance"] else "", r["because"]])
            for r in rows
        ]
        part(f"claims-{slug(policy)}", heading + "".join(lines) + "\nOf users of equal weight.\n")


def coverage() -> None:
    """Write which questions can be asked of which instance: the table that tests/coverage asks cell by cell."""
    sys.path.insert(0, str(REPOSITORY / "tests" / "coverage"))
    import cells

    number = {refused.name: n for n, refused in enumerate(answers.ROWS, start=1)}
    features = [(name, "none") for name in cells.FEATURES] + [("plain", "groups")]
    heading = ["command", *("groups" if groups == "groups" else name for name, groups in features)]
    lines = []
    for title, policy in FAMILIES.items():
        lines += [f"### {title}\n\n", row(heading), row(["---"] * len(heading))]
        for command, kinds in answers.QUESTIONS.items():
            for tasks in kinds:
                found = []
                for feature, groups in features:
                    asked = [cells.Cell(command, tasks, cluster, feature, groups, policy) for cluster in cells.CLUSTERS]
                    marks = [str(number[name]) if (name := cells.told(cell)) else cells.mark(cell) for cell in asked]
                    found.append(marks[0] if len(set(marks)) == 1 else " / ".join(marks))
                option = {"whole": " --integer", "exact": " --exact"}.get(tasks, "")
                lines.append(row([f"`{command}{option}`", *found]))
        lines.append("\n")
    part("coverage", "".join(lines))
    part(
        "refusals",
        "".join(f"{n}. {refused.reason}. *{refused.against}*\n" for n, refused in enumerate(answers.ROWS, start=1)),
    )
    part("bounds", "".join(f"- `{bounded.command}`: {bounded.reason}\n" for bounded in answers.BOUNDED))


def slug(name: str) -> str:
    """Return a name as part of the name of a file."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.replace(">", "above").replace("<", "below"))


def command_line() -> None:
    """Write the page of the command line from the application itself."""
    group = program
    lines = ["# Command line\n"]
    for name, command in group.commands.items():
        help_text = (command.help or "").replace("\b", "").strip()
        said, _, example = help_text.partition("Example: ")
        lines += [f"## drfopt {name}\n", said]
        lines += [f"```sh\n{' '.join(example.split())}\n```\n"] if example else []
        options = [row(["", "", ""]) + row(["---"] * 3)]
        for parameter in command.params:
            takes = "" if getattr(parameter, "is_flag", False) else parameter.metavar or parameter.type.name.upper()
            names = ", ".join(f"`{o}`" for o in parameter.opts) if parameter.opts[0].startswith("-") else ""
            said = " ".join((getattr(parameter, "help", "") or "").split())
            default, value = getattr(parameter, "show_default", False), parameter.default
            if default is True and isinstance(value, str | int) and not isinstance(value, bool):
                default = str(value)
            said += f" Default: {default}." if isinstance(default, str) and default else ""
            options.append(row([names or f"`{takes}`", f"`{takes}`" if names and takes else "", said]))
        lines.append("".join(options))
    (GENERATED / "cli.md").write_text("\n".join(lines), encoding="utf-8")


def documents() -> None:
    """Write the page of the documents, each with the keys that its schema has."""
    lines = [
        "# Documents\n",
        "Every JSON says what it is under `schema`: a kind and a version, which grows when a key goes or changes its",
        "meaning. `drfopt schema NAME` prints the whole JSON Schema, `drfopt.schema(NAME)` returns it;",
        "that of a command with several kinds of answers, such as `simulate`, takes each of them. An exact",
        'value is text such as `"63/25"`, or `"63/25*L1"` for a multiple of L1 under `long`, or the two ends between',
        "which it lies; null is what is not defined, not known or not finite.\n",
    ]
    schemas = {document.name: schema(document.name) for document in DOCUMENTS}
    # The first document that has a table, where its keys are listed.
    home = {table: name for name, found in reversed(schemas.items()) for table in found.get("$defs", {})}
    for document in DOCUMENTS:
        found = schemas[document.name]
        lines += [f"## {document.name}\n", f"{found['description']} Printed by: {document.printed_by}.\n"]
        tables = [("", found), *((name, table) for name, table in found.get("$defs", {}).items())]
        for name, table in tables:
            if "properties" not in table or name.endswith("Document") or (name and document.name != home[name]):
                continue
            lines += [f"`{name}`: {table['description']}\n"] if name else []
            keys = [
                row([f"`{key}`", told(value), "" if key in table.get("required", ()) else "optional"])
                for key, value in table["properties"].items()
            ]
            lines.append(row(["key", "holds", ""]) + row(["---"] * 3) + "".join(keys))
    (GENERATED / "documents.md").write_text("\n".join(lines), encoding="utf-8")


def told(value: dict[str, Any]) -> str:
    """Return a value of a schema in a word or two."""
    if "const" in value:
        return f"`{value['const']}`"
    if "$ref" in value:
        return value["$ref"].rpartition("/")[2]
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(map(told, value["anyOf"])))
    if value.get("type") == "array":
        return f"list of {told(value['items'])}"
    if value.get("type") == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"table of {told(value['additionalProperties'])}"
    words = {"string": "text", "object": "table", "null": "null", "boolean": "true or false"}
    kind = "fraction" if "pattern" in value else value.get("type", "anything")
    return words.get(kind, kind)


def figures() -> None:
    """Draw the figures of the pages."""
    for name, command in PICTURES.items():
        drfopt(*command, str(FIGURES / f"{name}.svg"))
    drfopt("report", "discriminating", "--plots", str(FIGURES / "report"), "-o", str(FIGURES / "report.html"))


def gallery() -> None:
    """Copy the notebooks, with their last picture as what stands for them."""
    folder = GENERATED / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    cards, names = [], []
    for path in sorted((REPOSITORY / "notebooks").glob("*.ipynb")):
        shutil.copy(path, folder / path.name)
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        title = cells[0]["source"][0].lstrip("# ").strip()
        pictures = [o["data"][PICTURE] for c in cells for o in c.get("outputs", []) if PICTURE in o.get("data", {})]
        (folder / f"{path.stem}.svg").write_text("".join(pictures[-1]), encoding="utf-8")
        link = f"notebooks/{path.stem}"
        cards.append(f":::{{grid-item-card}} {title}\n:link: {link}\n:link-type: doc\n:img-bottom: {link}.svg\n:::\n")
        names.append(link)
    text = "# Notebooks\n\n::::{grid} 2\n" + "\n".join(cards) + "::::\n\n```{toctree}\n:hidden:\n\n" + "\n".join(names)
    (GENERATED / "gallery.md").write_text(text + "\n```\n", encoding="utf-8")


def write(app: Any) -> None:
    """Make all of it; what takes long is kept until ``docs/generated`` is deleted."""
    for folder in (PARTS, FIGURES):
        folder.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        part(name, drfopt(name, "--format", "markdown"))
    part("headlines", headlines.table(page.read()))
    part("comparison", headlines.compared(page.read()))
    part("claims", claim_rows.table((claim_rows.POSITIVE,)))
    part("second-authors", second_authors())
    (GENERATED / "measured.md").write_text(measured.page(), encoding="utf-8")
    command_line()
    documents()
    gallery()
    if not (PARTS / "claims-drf.md").exists():
        figures()
        coverage()
    claims()


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx when to make it."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
