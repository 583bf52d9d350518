"""Docstrings are run and complete: examples say what happens, a public function names every argument and its errors."""

import ast
import doctest
import importlib
import inspect
import re
import typing

import pytest
from house_source import modules

import drfopt

WITH_EXAMPLES = [module.name for module in modules("drfopt") if ">>> " in module.text]
PUBLIC = {name: getattr(drfopt, name) for name in drfopt.__all__}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_are_true(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    # An example is written as somebody types it who has imported the package's names.
    names = PUBLIC | {"Fraction": __import__("fractions").Fraction} | vars(module)
    failed, tried = 0, 0
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name, globs=names):
        said = []
        failed += runner.run(test, out=said.append, clear_globs=False).failed
        tried += len(test.examples)
        assert not failed, "".join(said)
    assert tried


def test_a_wrong_example_would_fail():
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner().run(test, out=lambda text: None).failed


def sections(text):
    """Return a numpydoc docstring by its headings."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def arguments(text):
    """Return the names that a section of parameters explains, several on a line included."""
    heads = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .*)?$", text, flags=re.MULTILINE)
    return {name.strip("* ") for head in heads for name in head.split(",")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_what_it_takes_and_raises(name):
    value = FUNCTIONS[name]
    found = sections(inspect.getdoc(value))
    wanted = set(inspect.signature(value).parameters)
    assert wanted <= arguments(found.get("Parameters", "")), sorted(wanted - arguments(found.get("Parameters", "")))
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(ast.parse(inspect.getsource(value))))
    assert not raises or "Raises" in found


@pytest.mark.parametrize("name", [n for n, v in PUBLIC.items() if inspect.isclass(v) and not issubclass(v, Exception)])
def test_a_public_class_says_what_it_has(name):
    value = PUBLIC[name]
    found = sections(inspect.getdoc(value))
    fields = {field for field in getattr(value, "__dataclass_fields__", {}) if not field.startswith("_")}
    told = arguments(found.get("Attributes", "") + found.get("Parameters", ""))
    assert fields <= told, sorted(fields - told)


@pytest.mark.parametrize("name", PUBLIC)
def test_hints_of_public_names_can_be_read_by_tools(name):
    held = PUBLIC[name]
    inside = [value for value in vars(held).values() if inspect.isfunction(value)] if inspect.isclass(held) else []
    for value in [held, *inside]:
        if inspect.isclass(value) or inspect.isfunction(value):
            typing.get_type_hints(value)
