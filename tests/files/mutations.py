"""Files spoiled in ways that files are spoiled, each the same for the same seed.

Run as a program it gives spoiled files to the command line, one after the other, and prints what should not be::

    python tests/files/mutations.py FOLDER FIRST LAST [SAMPLES]    the seeds from FIRST to before LAST

Files at which something went wrong are left in FOLDER.
"""

import contextlib
import copy
import gzip
import io
import json
import random
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

METHODS = 20
"""CPU seconds that one file may take."""

MEMORY = 2 * 2**30
"""Bytes of data that all files together may need at a time."""

DEEP = 5_000
"""Levels of nesting put in: more than any parser's stack takes, and quick to write."""

# ---- what is spoiled -----------------------------------------------------------------------------------------------

WORDS = (
    *("", "0", "-1", "1e400", "1e-400", "NaN", "Infinity", "-0", "0x10", "1_000", "010", "1/0", "1/3", "٣", "9" * 30),
    *("9" * 5_000, "1e999999999", "9.9e307", "4Gi", "500m", "1E", "-1%", "true", "null", "~", "[]", "{}", '""', "*a"),
    *("&a [*a]", "!!python/object:os.system {}", "é", "A\u0301", "\u202e", "\ud7ff", "\ufeff", "🦊", "\x1b[2J", "\x7f"),
    *("a/b", "/", "a//b", ".", "a.b.c", "'", '"', "<", "&", "&lt;", "|", ",", ";", "=", ":", "- ", "#", "x" * 3_000),
)
VALUES = (
    *(None, True, False, 0, -1, 1, 0.5, 1e-300, 1e300, 10**30, 10**400, "", "x", "1/3", "1/0", "-1", "1e400", "NaN"),
    *([], {}, [[]], [None], {"": None}, {"a": {"a": {}}}, "\ud800", "ａ", "9" * 5_000, float("nan"), float("inf")),
)


def _places(tree: Any, path: tuple = ()) -> Iterator[tuple]:
    yield path
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from _places(value, (*path, key))


def _above(tree: Any, path: tuple) -> Any:
    for key in path[:-1]:
        tree = tree[key]
    return tree


def spoil_tree(tree: Any, chance: random.Random) -> Any:
    """Return a tree with one part of it dropped, doubled, renamed, moved, buried or of another kind."""
    tree = copy.deepcopy(tree)
    path = chance.choice(list(_places(tree)))
    if not path:
        return chance.choice(([tree], {"a": tree}, [tree, tree], tree))
    above, key = _above(tree, path), path[-1]
    value = above[key]
    match chance.randrange(6):
        case 0:
            del above[key]
        case 1 if isinstance(above, dict):
            above[chance.choice((f"{key}s", str(key).upper(), f" {key}", "", f"{key}\u0301"))] = above.pop(key)
        case 1:
            above.extend([value] * chance.choice((1, 100)))
        case 2:
            other = chance.choice([p for p in _places(tree) if p])
            above[key] = copy.deepcopy(_above(tree, other)[other[-1]])
        case 3:
            for _ in range(chance.choice((2, 40, 300))):
                value = [value] if chance.random() < 0.5 else {str(key): value}
            above[key] = value
        case _:
            above[key] = chance.choice(VALUES)
    return tree


def _line(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    k = chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            del lines[k]
        case 1:
            lines.insert(chance.randrange(len(lines)), lines[k])
        case 2:
            lines[k] *= chance.choice((2, 500))
        case _:
            lines[k] = chance.choice((" ", "\t", "  ")) + lines[k]
    return "".join(lines)


def _word(text: str, chance: random.Random) -> str:
    found = list(re.finditer(r"[\w.+-]+|[^\w\s]", text))
    return text if not found else _put(text, chance.choice(found).span(), chance.choice(WORDS))


def _put(text: str, span: tuple[int, int], word: str) -> str:
    return text[: span[0]] + word + text[span[1] :]


def _key(text: str, chance: random.Random) -> str:
    """Double a word, so that a key or a name stands twice."""
    found = list(re.finditer(r"\w+", text))
    if len(found) < 2:
        return text
    one, other = chance.choice(found), chance.choice(found)
    return _put(text, one.span(), other.group())


def _deep(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(("[", "{a: ", '{"a":', "- ", "<a>", "(", "a.", "/g")) * DEEP + text[at:]


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _anchors(text: str, chance: random.Random) -> str:
    found = list(re.finditer(r"(?<=: )|(?<=- )", text)) or [re.match("", text)]
    for _ in range(2):
        text = _put(text, chance.choice(found).span(), chance.choice(("&a ", "*a ", "&a [*a, *a] ", "<<: *a ")))
    return text


def spoil_text(text: str, chance: random.Random) -> str:
    """Return a text that one mistake has been made in, or a few."""
    if text.lstrip()[:1] in ("{", "[") and chance.random() < 0.6:
        with contextlib.suppress(ValueError):
            tree = json.loads(text)
            for _ in range(chance.choice((1, 1, 2, 3))):
                tree = spoil_tree(tree, chance)
            return json.dumps(tree, ensure_ascii=chance.random() < 0.5)
    for _ in range(chance.choice((1, 1, 2, 4))):
        text = chance.choices((_line, _word, _key, _deep, _cut, _anchors), (3, 6, 3, 1, 1, 1))[0](text or " ", chance)
    return text


def spoiled(text: str, chance: random.Random) -> bytes:
    """Return the bytes of a file that was meant to hold the text."""
    data = spoil_text(text, chance).encode("utf-8", "surrogatepass")
    if chance.random() > 0.1:
        return data
    at = chance.randrange(len(data) + 1)
    return chance.choice(
        (
            data[:at] + bytes(chance.randrange(256) for _ in range(8)) + data[at:],
            data.replace(b"\n", b"\r\n"),
            b"\xef\xbb\xbf" + data,
            data.decode("utf-8", "replace").encode("utf-16"),
            gzip.compress(data)[: chance.choice((None, -5))],
            data[:at] + b"\0" + data[at:],
        )
    )


# ---- who reads it --------------------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """Files that belong together, with a suffix each, and the command that reads them."""

    command: Callable[[list[str]], list[str]]
    files: list[str]
    suffixes: tuple[str, ...] = ()


def _convert(name: str, files: list[str], suffixes: tuple[str, ...] = ()) -> Sample:
    return Sample(lambda paths: ["convert", "--from", name, *paths], files, suffixes)


FOUND = {
    "kubernetes": ("k8s-list.json", "resourcequota.yaml"),
    "kueue": ("kueue.yaml",),
    "volcano": ("k8s-list.json", "volcano-queue.yaml"),
    "yunikorn": ("k8s-list.json", "yunikorn-queues.yaml"),
    "kai": ("k8s-list.json", "kai-queue.yaml"),
    "yarn": ("fair-scheduler.xml", "yarn-nodes.json", "yarn-apps.json", "yarn-scheduler.json"),
    "slurm": ("slurm-sinfo.txt", "slurm-sacct.txt", "slurm-sshare.txt"),
    "mesos": ("mesos-state.json", "mesos-roles.json"),
    "google2011": ("google2011-machine_events.csv", "google2011-task_events.csv"),
    "openb": ("openb_node.csv", "openb_pod.csv"),
}
"""Files of a folder of samples beside the traces, by the format that reads them."""

SMALL = 60_000
"""Characters of the largest file that is spoiled: of a larger one, one fault is as hard to find as to make."""


def samples(folder: Path | None) -> list[Sample]:
    """Return what is spoiled: the samples of these tests, files written by the package, and those of a folder."""
    from test_files_hostile import LIST
    from test_files_samples import SAMPLES

    from drfopt import Instance, Organisation, TaskType, solve
    from drfopt.certificates.document import certificate_document
    from drfopt.io.library import names
    from drfopt.io.native import writing
    from drfopt.model.machine import Machine
    from drfopt.simulation import scenario_files

    def text(content: Any) -> str:
        return content if isinstance(content, str) else json.dumps(content)

    found = [_convert(name, [text(content) for content in files]) for name, files in SAMPLES.items()]
    found += [_convert(name, [json.dumps(LIST)]) for name in ("kubernetes", "kueue", "volcano", "kai", "koordinator")]
    # Instances, in three languages, with all their keys.
    users = {"A": [TaskType({"cpu": 1, "gpu": 1}, 3, ["xl"]), TaskType({"cpu": "1/3"}, 4)], "B": {"cpu": 3}}
    machines = [Machine("xl", {"cpu": 9, "gpu": 2}, 2), Machine("s", {"cpu": 4})]
    rules = Organisation({"B": {"cpu": 1}}, {"B": {"cpu": 20}}, {"A": 1}, {"A": "eng/dev"}, excluded=["gpu"])
    full = Instance(users, machines=machines, weights={"A": 2}, max_tasks={"B": 5}, organisation=rules)
    plain = Instance({"A": {"cpu": 1, "gpu": 4}, "B": {"cpu": 3, "gpu": 1}}, {"cpu": 9, "gpu": 18})
    placed = Instance({"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 3}}, machines=machines)
    for instance in (full, plain, *(Instance.library(name) for name in names()[::12])):
        for form in ("toml", "json", "yaml"):
            solved = [writing.dumps(instance, form)]
            found.append(Sample(lambda paths: ["solve", *paths, "--time-limit", "5"], solved, (f".{form}",)))
    for scenario in (scenario_files.template(), *map(scenario_files.text, scenario_files.names())):
        found.append(Sample(lambda paths: ["scenario", *paths], [scenario], (".toml",)))
    # What runs today.
    today = {"placement": {"A": {"xl": 2}, "B": {"s": 1}}}
    by_machine = {"machines": {"n1": {"class": "xl", "tasks": {"A": 2}}, "s": {"B": 1}}}
    for instance, current in ((placed, today), (placed, by_machine), (plain, {"tasks": {"A": 1, "B": 2}})):
        files = [writing.dumps(instance, "json"), json.dumps(current)]
        found.append(
            Sample(lambda p: ["rebalance", p[0], "--current", p[1], "--time-limit", "5"], files, (".json", ".json"))
        )
    # Answers, and why they are.
    claims = [(full, "drf", {}), *((one, "per-server", {}) for one in (plain, placed))]
    modes: tuple[dict[str, bool], ...] = ({}, {"exact": True}, {"integer": True})
    claims += [(one, *two) for one in (plain, placed) for two in product(("drf", "ceei", "utilitarian"), modes)]
    for instance, policy, mode in claims:
        proven = json.dumps(certificate_document(solve(instance, policy, **mode)))
        found.append(Sample(lambda paths: ["verify", *paths], [proven]))
    for name, files in FOUND.items() if folder is not None else ():
        paths = [folder / file for file in files if (folder / file).exists()]
        if paths:
            found.append(_convert(name, [path.read_text(encoding="utf-8") for path in paths]))
    real = folder / "real" if folder is not None else None
    for path in sorted(real.glob("*/*")) if real is not None and real.exists() else ():
        if path.stat().st_size <= SMALL:
            found.append(_convert(path.parent.name, [path.read_text(encoding="utf-8")]))
    return found


class Late(BaseException):
    """A file took too long."""


def _late(signum: int, frame: Any) -> None:
    raise Late


def ran(arguments: list[str]) -> str:
    """Run a command in this process and return what is wrong with how it ended, or an empty text."""
    from drfopt import InstanceError
    from drfopt.cli import main
    from drfopt.simulation import Scenario

    out, err, status = io.StringIO(), io.StringIO(), 0
    before = signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, METHODS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            if arguments[0] == "scenario":
                with contextlib.suppress(InstanceError):
                    Scenario.load(arguments[1])
            else:
                main(arguments)
    except SystemExit as end:
        status = end.code or 0
    except Late:
        return f"takes more than {METHODS} seconds"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    said = err.getvalue()
    if "itself is at fault" in said or "out of memory" in said or "Traceback" in said:
        return said[:300]
    if status not in (0, 1, 2, 3):
        return f"exit status {status}: {said[:200]}"
    if status == 2 and not (said.count("\n") == 1 and said[:-1].isprintable()):
        return f"not one line: {said[:200]!r}"
    return ""


def main(folder: Path, first: int, last: int, origin: Path | None) -> None:
    """Print a line of JSON before each file, and one after it with what was wrong."""
    every = samples(origin)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    for seed in range(first, last):
        chance = random.Random(seed)
        sample = chance.choice(every)
        hit = chance.randrange(len(sample.files))
        paths = []
        for i, text in enumerate(sample.files):
            suffix = sample.suffixes[i] if sample.suffixes else ""
            paths.append(folder / f"{seed}-{i}{suffix}")
            paths[-1].write_bytes(spoiled(text, chance) if i == hit else text.encode())
        arguments = sample.command([str(path) for path in paths])
        print(json.dumps({"seed": seed, "arguments": arguments, "wrong": "ended the program"}), flush=True)
        wrong = ran(arguments)
        print(json.dumps({"seed": seed, "arguments": arguments, "wrong": wrong}), flush=True)
        for path in paths if not wrong else ():
            path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]) if len(sys.argv) > 4 else None)
