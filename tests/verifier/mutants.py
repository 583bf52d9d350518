"""Mutants of the verifier, each a file with one small change, and which of them no test catches.

    python tests/verifier/mutants.py order.py paths.py    # which mutants of these files survive
    python tests/verifier/mutants.py --sample 60          # of so many, taken from all files
    python tests/verifier/mutants.py order.py --only "place: 1 -> 2"    # those whose names have this in them
    python tests/verifier/mutants.py --since main~9   # those of lines that have changed since

A mutant has the code of its functions put in the place of theirs, in a process forked for it, and then the tests that
come by the changed function are run until one fails.  Nothing else keeps one mutant from the next: where a fixture is
ended because it takes too long, for one, pytest has it half made ever after.  `equivalent_mutants.txt` names those that
no test can catch, and why.
"""

import argparse
import ast
import os
import pickle
import random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE)]
verifier = import_module(PACKAGE := "drfopt.certificates.verifier")
FOLDER = HERE.parent.parent / PACKAGE.replace(".", "/")
EQUIVALENT = HERE / "equivalent_mutants.txt"

SLOWER = 15
"""Times its own CPU seconds after which a test is stopped, and the mutant is caught: it does not end."""

LONG = 4.0
"""CPU seconds that a test may take at most, and more than any takes: some are slow."""

TRIED = 3
"""Tests of a document that is judged otherwise: that many are run, of which one should fail."""

MANY = 400
"""Tests, the shortest, that are run of documents of which the same is wrong as was."""

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,), ast.BitOr: (ast.BitAnd,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


Function = tuple[str, str]
"""A file of the verifier, and the name of a function in it."""


class Mutant(NamedTuple):
    """One change: the file, the function it is in, what is told of it, and what comes for which node of its tree."""

    file: str
    where: str
    text: str
    tree: ast.Module
    node: ast.AST
    new: ast.AST

    def __str__(self) -> str:
        return f"{self.file} {self.where}: {self.text}"


def changed(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields."""
    return ast.copy_location(type(node)(**{**dict(ast.iter_fields(node)), **fields}), node)


def without(values: list[Any], k: int, *new: Any) -> list[Any]:
    return [*values[:k], *new, *values[k + 1 :]]


def instead(node: Any) -> Iterator[ast.AST]:
    """Yield what may come in the place of a node."""
    match node:
        case ast.Expr(value=ast.Constant() | ast.Call(func=ast.Name(id="spend" | "grant"))):
            return  # Words, and counted work.
        case ast.Compare(ops=ops):
            for k, op in enumerate(ops):
                yield from (changed(node, ops=without(ops, k, new())) for new in OPERATORS[type(op)])
        case ast.BoolOp(op=op, values=values):
            yield changed(node, op=OPERATORS[type(op)][0]())
            for k in range(len(values)):
                rest = without(values, k)
                yield changed(node, values=rest) if len(rest) > 1 else rest[0]
        case ast.BinOp(op=op):
            yield from (changed(node, op=new()) for new in OPERATORS.get(type(op), ()))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield changed(node, value=not value)
        case ast.Constant(value=int(value)):
            yield from (changed(node, value=value + d) for d in (1, -1))
        case ast.Name(id="min" | "max" | "any" | "all" as name):
            yield changed(node, id=NAMES[name])
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in NAMES:
            yield changed(node, attr=NAMES[name])
        case ast.If() | ast.IfExp():
            yield from (changed(node, test=ast.Constant(value)) for value in (False, True))
        case ast.While():
            yield changed(node, test=ast.Constant(False))
        case ast.comprehension(ifs=ifs):
            yield from (changed_comprehension(node, without(ifs, k)) for k in range(len(ifs)))
        case ast.Break() | ast.Continue() | ast.Raise() | ast.AugAssign() | ast.Expr():
            yield ast.copy_location(ast.Pass(), node)
        case ast.Return(value=ast.expr()):
            yield from (changed(node, value=ast.Constant(value)) for value in (None, True, False))


def changed_comprehension(node: ast.comprehension, ifs: list[ast.expr]) -> ast.comprehension:
    return ast.comprehension(node.target, node.iter, ifs, node.is_async)


def left_alone(node: Any) -> Iterator[ast.AST]:
    """Yield the parts of a node that are not changed: words, types, and counted work."""
    match node:
        case ast.FunctionDef(returns=returns, decorator_list=decorators):
            yield from (part for part in [returns, *decorators] if part)
        case ast.keyword(arg="strict"):  # Lengths are the same by how the lists are made.
            yield node.value
        case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
            yield annotation
        case ast.Raise(exc=ast.expr() as words):
            yield from ast.walk(words)
        case ast.JoinedStr():
            yield from ast.walk(node)
        case ast.Expr(value=ast.Call(func=ast.Name(id="spend" | "grant"))):
            yield from ast.walk(node)


def makes_sense(new: ast.AST, returns: str) -> bool:
    """Say whether a function may return this at all: None, or true and false."""
    if not isinstance(new, ast.Return) or not isinstance(new.value, ast.Constant):
        return True
    return ("None" if new.value.value is None else "bool") in returns


def told(node: Any, new: Any, parent: Any) -> str:
    """Say what is changed into what; of what is short, in what."""
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            return f"if {ast.unparse(node.test)} -> {new.test.value}"
        case ast.Break() | ast.Continue() | ast.Raise() | ast.AugAssign() | ast.Expr():
            return f"without {ast.unparse(node)}"
        case ast.Constant() | ast.Name() | ast.Attribute():
            inside = parent if isinstance(parent, ast.expr | ast.arguments | ast.Assign | ast.Return) else node
            return f"{ast.unparse(node)} -> {ast.unparse(new)} in {ast.unparse(inside)}"
    return f"{ast.unparse(node)} -> {ast.unparse(new)}"


def mutants(file: str) -> Iterator[Mutant]:
    """Yield the mutants of a file: of its functions, and of the numbers it names."""
    tree = ast.parse((FOLDER / file).read_text())
    said: Counter[tuple[str, str]] = Counter()

    def of(node: Any, parent: Any, where: str, returns: str) -> Iterator[Mutant]:
        if isinstance(node, ast.FunctionDef):
            returns = ast.unparse(node.returns or ast.Constant(""))
        for new in instead(node):
            if makes_sense(new, returns) and ast.dump(new) != ast.dump(node):
                text = " ".join(told(node, new, parent).split())
                said[where, text] += 1
                again = f" #{said[where, text]}" if said[where, text] > 1 else ""
                yield Mutant(file, where, text + again, tree, node, new)
        skipped = set(map(id, left_alone(node)))
        for child in ast.iter_child_nodes(node):
            if id(child) not in skipped:
                yield from of(child, node, where, returns)

    for top in tree.body:
        match top:
            case ast.ClassDef(name=name, body=body):
                for one in (one for one in body if isinstance(one, ast.FunctionDef)):
                    yield from of(one, top, f"{name}.{one.name}", "")
            case ast.FunctionDef(name=name):
                yield from of(top, tree, name, "")
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name != "__all__":
                yield from of(value, top, name, "")
            case ast.Assign(targets=[ast.Tuple(elts=several)], value=ast.Tuple(elts=values)):
                for target, value in zip(several, values, strict=True):
                    yield from of(value, value, target.id, "")


def lines_of(mutant: Mutant) -> set[int]:
    """Return the lines of what is changed: of a condition those of what is asked."""
    what = mutant.node.test if isinstance(mutant.node, ast.If | ast.While) else mutant.node
    spans = [(one.lineno, one.end_lineno) for one in ast.walk(what) if isinstance(one, ast.expr | ast.stmt)]
    return {line for first, last in spans for line in range(first, (last or first) + 1)}


def lines_since(commit: str) -> dict[str, set[int]]:
    """Return the lines of each file of the verifier that have changed since a commit."""
    how, found = ["git", "diff", "-U0", "--relative", commit, "--", "."], dict[str, set[int]]()
    for line in subprocess.run(how, cwd=FOLDER, capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("+++ b/"):
            ours = found[line.removeprefix("+++ b/")] = set()
        elif at := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            ours |= set(range(int(at[1]), int(at[1]) + int(at[2] or 1)))
    return found


class Put(ast.NodeTransformer):
    """Put one node in the place of another."""

    def __init__(self, node: ast.AST, new: ast.AST):
        self.node, self.new = node, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.node else self.generic_visit(node)


def functions(space: dict[str, Any], module: str) -> dict[str, FunctionType]:
    """Return the functions of a module and of its classes, by their names."""
    found, waiting = {}, list(space.values())
    while waiting:
        one = waiting.pop()
        if isinstance(one, FunctionType | type) and one.__module__ != module:
            continue
        inside = [part for how in ("fget", "func", "__func__", "__wrapped__") if (part := getattr(one, how, None))]
        if isinstance(one, FunctionType) and not inside:  # What wraps another has its name.
            found.setdefault(one.__qualname__, one)
        waiting += vars(one).values() if isinstance(one, type) else inside
    return found


class Loaded:
    """A mutant in the place of the file it is of, while the block runs."""

    def __init__(self, mutant: Mutant):
        self.mutant, name = mutant, f"{PACKAGE}.{mutant.file.removesuffix('.py')}"
        self.module = import_module(PACKAGE if mutant.file == "__init__.py" else name)
        self.undo, self.stack = list[tuple[Any, str, Any]](), ExitStack()

    def put(self, one: Any, name: str, value: Any) -> None:
        self.undo.append((one, name, getattr(one, name)))
        setattr(one, name, value)

    def __enter__(self) -> None:
        tree, node, new = self.mutant.tree, self.mutant.node, self.mutant.new
        Put(node, new).visit(tree)
        try:
            code = compile(ast.fix_missing_locations(tree), str(FOLDER / self.mutant.file), "exec")
        finally:
            Put(new, node).visit(tree)
        space = {key: value for key, value in vars(self.module).items() if key.startswith("__")}
        exec(code, space)
        ours, theirs = (functions(one, self.module.__name__) for one in (vars(self.module), space))
        for name, function in ours.items():
            # Who has lost its one `super()` has nothing of what is around it, which the function goes on bringing.
            code = theirs[name].__code__.replace(co_freevars=function.__code__.co_freevars)
            self.put(function, "__code__", code)
            for part in ("__defaults__", "__kwdefaults__"):
                self.put(function, part, getattr(theirs[name], part))
        if (name := self.mutant.where).isupper():  # A number: whoever has imported it has the old one.
            self.stack.enter_context(rebound(name, getattr(self.module, name), space[name]))

    def __exit__(self, *_: object) -> None:
        self.stack.close()
        for one, name, value in reversed(self.undo):
            setattr(one, name, value)


class Endless(BaseException):
    """A test takes much longer than it does without the mutant."""


class Case(NamedTuple):
    """A document that tests let the verifier judge, as bytes: its verdict, the CPU seconds, what judging it calls."""

    document: bytes
    verdict: Any
    seconds: float
    calls: set[Function]
    tests: list[int]


class Judge:
    """The tests, the documents they have judged, and what they say of mutants."""

    def __init__(self, wanted: list[Mutant], kept: Path | None):
        self.wanted, self.kept, self.survivors, self.killers = wanted, kept, list[Mutant](), dict[int, Mutant]()
        self.cases: dict[bytes, Case] = {}
        self.seconds, self.calls = list[float](), list[set[Function]]()
        self.heat: Counter[Any] = Counter()

    def pytest_runtestloop(self, session: Any) -> bool:
        self.items = session.items
        signal.signal(signal.SIGVTALRM, _endless)
        self.look()
        print(f"{len(self.items)} tests, {sum(self.seconds):.0f} s, {len(self.cases)} documents", flush=True)
        session.config._tmp_path_factory.getbasetemp()  # The one folder for files, below which each takes its own.
        for mutant in self.wanted:
            start = sum(os.times()[:4])
            if (k := apart(partial(self.killer, mutant))) is not None:
                where = (mutant.file, mutant.where)
                self.killers.setdefault(k, mutant)
                documents = (case.document for case in self.cases.values() if k in case.tests and where in case.calls)
                self.heat.update(key for document in documents for key in ((where, document), document))
            else:
                self.survivors.append(mutant)
                print(f"survives: {mutant}   ({sum(os.times()[:4]) - start:.1f} s)", flush=True)
        broken = [
            f"{self.items[k].nodeid} (caught {one})"
            for k, one in self.killers.items()
            if not apart(partial(self.run, k, 100 * LONG))
        ]
        if broken:
            raise SystemExit(f"without a mutant these fail now, so that nothing is proven: {broken}")
        return True

    def run(self, k: int, seconds: float) -> bool:
        """Run a test; say whether it passes."""
        try:
            with at_most(seconds):
                return not any(report.failed for report in runtestprotocol(self.items[k], nextitem=None, log=False))
        except Endless:  # Between two parts of it.
            return False

    def look(self) -> None:
        """Run all tests without a mutant, and see what they have judged and what they call besides."""
        names = [item.nodeid for item in self.items]
        if self.kept and self.kept.exists():
            known, self.cases, self.seconds, self.calls = pickle.loads(self.kept.read_bytes())
            if known == names:
                return
            raise SystemExit(f"{self.kept} is of other tests: remove it")
        real = verifier.verify

        def recorded(document: Any, instance: Any = None, **options: Any) -> Any:
            if "monkeypatch" in self.items[at].fixturenames:  # Its verdict is not the verifier's alone.
                return real(document, instance, **options)
            written = pickle.dumps((document, instance, options))
            if written in self.cases:
                self.cases[written].tests.append(at)
            start, verdict = time.process_time(), ""
            with calling() as calls:
                try:
                    report = real(document, instance, **options)
                    verdict = _short(report)
                    return report
                except Exception as error:
                    verdict = repr(error)
                    raise
                finally:
                    self.cases.setdefault(written, Case(written, verdict, time.process_time() - start, calls, [at]))

        with rebound("verify", real, recorded):
            for at in range(len(names)):
                start = time.process_time()
                with calling() as calls:
                    passed = self.run(at, 1000 * LONG)
                if not passed:
                    raise SystemExit(f"{names[at]} fails without a mutant")
                self.seconds.append(time.process_time() - start)
                self.calls.append(calls)
        if self.kept:
            self.kept.write_bytes(pickle.dumps((names, self.cases, self.seconds, self.calls)))

    def verdict(self, written: bytes, seconds: float) -> Any:
        """Return what the verifier says of a document: each check's name, whether it holds, and why not."""
        document, instance, options = pickle.loads(written)
        try:
            with at_most(seconds):
                return _short(verifier.verify(document, instance, **options))
        except (Exception, Endless) as error:
            return repr(error)

    def suspects(self, cases: list[Case]) -> Iterator[int]:
        """Yield the tests of documents that are judged otherwise: first where something else is wrong than was."""
        alike = set[int]()
        for case in cases:
            found = self.verdict(case.document, 0.2 + SLOWER * case.seconds)
            if _faults(found) != _faults(case.verdict):
                yield from dict.fromkeys(case.tests[:TRIED])
            elif found != case.verdict:
                alike.update(case.tests)
        # One check more or less is in every verdict: who looks at just that is a short test.
        yield from sorted(alike, key=lambda k: self.seconds[k])[:MANY]

    def killer(self, mutant: Mutant) -> int | None:
        """Return a test that fails: one whose document is judged otherwise, or one that calls the function itself."""
        where = (mutant.file, mutant.where)
        named = mutant.where.isupper()
        cases = [case for case in self.cases.values() if where in case.calls or named]
        cases.sort(key=lambda case: (-self.heat[where, case.document], -self.heat[case.document], case.seconds))
        tried: set[int] = set()
        with Loaded(mutant):
            for k in self.suspects(cases):
                if k not in tried:
                    tried.add(k)
                    if not self.run(k, 1 + SLOWER * self.seconds[k]):
                        return k
            for k in sorted(range(len(self.items)), key=lambda k: self.seconds[k]):
                able = where in self.calls[k] or (named and self.calls[k])
                if able and k not in tried and not self.run(k, 1 + SLOWER * self.seconds[k]):
                    return k
        return None


def apart(work: Callable[[], Any]) -> Any:
    """Return what work gives in a process forked for it, which leaves nothing behind in this one.

    Raises
    ------
    SystemExit
        When that process ends without an answer.
    """
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(writing, pickle.dumps(work()))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)  # Not by way of what has been begun here.
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        written = pipe.read()
    _, status = os.waitpid(child, 0)
    if not written:
        raise SystemExit(
            f"a process that was forked ended without an answer, so that nothing is proven: status {status}"
        )
    return pickle.loads(written)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End the block with `Endless` after so many CPU seconds."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@contextmanager
def rebound(name: str, old: Any, new: Any) -> Iterator[None]:
    """Let a name mean something else in all modules that have the old one, under this name or another."""
    places = [
        (vars(module), key)
        for module in [one for one in sys.modules.values() if isinstance(one, ModuleType)]
        for key, value in list(vars(module).items())
        if value is old and (callable(old) or key == name)
    ]
    for space, key in places:
        space[key] = new
    try:
        yield
    finally:
        for space, key in places:
            space[key] = old


@contextmanager
def calling() -> Iterator[set[Function]]:
    """See which functions of the verifier are called in the block, in this thread, and in no such block inside."""
    folder, ours, met = f"{FOLDER}/", dict[Any, Any](), set[Function]()

    def trace(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if code not in ours:
            mine = code.co_filename.startswith(folder)
            name = code.co_qualname.partition(".<locals>")[0]
            ours[code] = (code.co_filename.removeprefix(folder), name) if mine else None
        if ours[code]:
            met.add(ours[code])

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield met
    finally:
        sys.settrace(before)


def _short(report: Any) -> Any:
    return report.valid, [(check.name, check.holds, check.worst) for check in report.checks]


def _faults(verdict: Any) -> Any:
    """Return of a verdict whether it is valid, and the checks that do not hold; of an exception its words."""
    return verdict if isinstance(verdict, str) else (verdict[0], [one for one in verdict[1] if one[1] is not True])


def _endless(*_: object) -> None:
    raise Endless


def equivalent() -> dict[str, str]:
    """Return the mutants that no test can catch, with why."""
    found, why = {}, ""
    for line in EQUIVALENT.read_text().splitlines():
        if line.startswith("# "):
            why = line[2:]
        elif line:
            found[line] = why
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="files of the verifier, all without any")
    parser.add_argument("--sample", type=int, help="so many mutants, by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="mutants in whose names this is")
    parser.add_argument("--since", metavar="COMMIT", help="mutants of the lines that have changed since then")
    parser.add_argument("--again", type=Path, help="those that survived by this output of an earlier run")
    parser.add_argument("--tests", nargs="*", default=[str(HERE)], help="files of tests")
    parser.add_argument("--kept", type=Path, help="where what was seen of the tests is kept for the next time")
    parser.add_argument("--every", action="store_true", help="those that are told to be equivalent, too")
    parser.add_argument("--list", action="store_true", help="print them, and run nothing")
    given = parser.parse_args()
    files = given.files or sorted(path.name for path in FOLDER.glob("*.py"))
    known = {} if given.every else equivalent()
    wanted = [one for file in files for one in mutants(file) if given.only in str(one) and str(one) not in known]
    if given.since:
        since = lines_since(given.since)
        wanted = [one for one in wanted if lines_of(one) & since.get(one.file, set())]
    if given.again:
        lines = [line for line in given.again.read_text().splitlines() if line.startswith("survives: ")]
        before = {line.removeprefix("survives: ").rpartition("   (")[0] for line in lines}
        wanted = [one for one in wanted if str(one) in before]
    if given.sample:
        wanted = random.Random(given.seed).sample(wanted, min(given.sample, len(wanted)))
    if given.list:
        print(*wanted, sep="\n")
        return 0
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    judge = Judge(wanted, given.kept)
    # A test may be ended where its code has no line, which only this traceback stands.
    status = pytest.main(["-q", "-p", "no:cacheprovider", "--tb=native", *given.tests], plugins=[judge])
    print(f"{len(wanted)} mutants, {len(judge.survivors)} survive")
    return int(bool(status) or bool(judge.survivors))


if __name__ == "__main__":
    sys.exit(main())
