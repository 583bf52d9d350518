"""What goes wrong in JSON and YAML and not in TOML: the same manners."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

JSON_USER = '"users": [{"name": "A", "demand": {"cpu": 1}}]'
JSON = {
    "syntax": ('{"capacity": {"cpu": 1},}', r"line 1, column 2[45]: .*correct the JSON there"),
    "unquoted": ('{\n"capacity": {"cpu": 64Gi}}', r"line 2, column 23: .*stand in quotes"),
    "list": ("[1, 2]", r"holds a list: an instance is a table with the keys name, source, capacity"),
    "number": ("12", r"holds 12: an instance is a table"),
    "key twice": (
        '{"capacity": {"cpu": 1, "cpu": 2}, ' + JSON_USER + "}",
        r"capacity: key 'cpu' is written twice in one table",
    ),
    "key twice at the top": ('{"name": "a", "name": "b"}', r": key 'name' is written twice"),
    "key twice below a list": (
        '{"users": [{"name": "A", "name": "B"}]}',
        r"users\[0\]: key 'name' is written twice",
    ),
    "nan": ('{"capacity": {"cpu": NaN}, ' + JSON_USER + "}", r"capacity of 'cpu': NaN is not finite"),
    "infinite": (
        '{"capacity": {"cpu": -Infinity}, ' + JSON_USER + "}",
        r"capacity of 'cpu': -Infinity is not finite",
    ),
    "null": (
        '{"capacity": {"cpu": null}, ' + JSON_USER + "}",
        r"capacity of 'cpu': empty \(null\) is not a number",
    ),
    "digits": (
        '{"capacity": {"cpu": ' + "1" * 10**6 + "}, " + JSON_USER + "}",
        r"line 1, column 22: 1+\.\.\. is no number",
    ),
    "decimals": (
        '{"capacity": {"cpu": 0.' + "1" * 10**6 + "}, " + JSON_USER + "}",
        r"line 1, column 22: 0.1+\.\.\. is no number",
    ),
    "exponent": (
        '{"capacity": {"cpu": 1e999999999}, ' + JSON_USER + "}",
        r"capacity of 'cpu': 1E\+999999999 is beyond",
    ),
    "nesting": ('{"users": ' + "[" * 10**6, r"line 1, column 42: .*nested deeper than 32 levels"),
    "mistake before the nesting": ("[1 2 " + "[" * 10**6, r"line 1, column 4: .*delimiter"),
    "second value": ("{} {}", r"line 1, column 4: Extra data"),
}


@pytest.mark.parametrize(("content", "pattern"), JSON.values(), ids=JSON)
def test_bad_json(tmp_path: Path, error_of: Callable, content: str, pattern: str) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(content, encoding="utf-8")
    message = error_of(path)
    assert message.startswith(f"{path}: ")
    assert re.search(pattern, message), message


YAML_USERS = "users: [{name: A, demand: {cpu: 1}}]\n"
YAML = {
    "syntax": ("capacity: {cpu: 1\nusers: 3\n", r"line \d, column \d+: .*correct the YAML there"),
    "tab": ("capacity:\n\tcpu: 1\n", r"line 2, column 1: .*correct the YAML there"),
    "text": ("just words\n", r"holds 'just words': an instance is a table"),
    "key twice": (
        "capacity:\n  cpu: 1\n  cpu: 2\n" + YAML_USERS,
        r"line 3, column 3: key 'cpu' is written twice",
    ),
    "anchor": ("capacity: &c {cpu: 1}\n" + YAML_USERS, r"line 1, column 11: the anchor '&c' is not read"),
    "alias": ("capacity: *c\n", r"line 1, column 11: the alias '\*c' is not read"),
    "tag": ("capacity: !!python/object:os.system {cpu: 1}\n", r"line 1, column 11: the tag .* is not read"),
    "merge": ("capacity: {<<: {cpu: 1}}\n" + YAML_USERS, r"capacity of '<<': a table is not a number"),
    "documents": ("capacity: {cpu: 1}\n---\n" + YAML_USERS, r"line 2, column 1: a second document begins"),
    "complex key": ("? [1, 2]\n: 3\n", r"line 1, column 3: a list or a table is used as a key"),
    "octal": ("capacity: {cpu: 010}\n" + YAML_USERS, r"line 1, column 17: 010 is octal to some"),
    "sexagesimal": ("capacity: {cpu: 1:30}\n" + YAML_USERS, r"capacity of 'cpu': '1:30' is not a number"),
    "yes": ("capacity: {cpu: yes}\n" + YAML_USERS, r"capacity of 'cpu': 'yes' is not a number"),
    "true": ("capacity: {cpu: true}\n" + YAML_USERS, r"capacity of 'cpu': true is not a number"),
    "nan": ("capacity: {cpu: .nan}\n" + YAML_USERS, r"capacity of 'cpu': NaN is not finite"),
    "infinite": ("capacity: {cpu: -.inf}\n" + YAML_USERS, r"capacity of 'cpu': -Infinity is not finite"),
    "empty value": ("capacity: {cpu: }\n" + YAML_USERS, r"capacity of 'cpu': empty \(null\) is not a number"),
    "name is a number": (
        "capacity: {cpu: 1}\nusers: [{name: 7, demand: {cpu: 1}}]",
        r"users\[0\]: name is 7: write a text in quotes",
    ),
    "digits": (
        "capacity: {cpu: " + "1" * 10**6 + "}\n" + YAML_USERS,
        r"line 1, column 17: 1+\.\.\. is no number",
    ),
    "exponent": ("capacity: {cpu: 1e999999999}\n" + YAML_USERS, r"1E\+999999999 is beyond the range"),
    "exponent of many digits": (
        f"capacity: {{cpu: 1e{'9' * 30}}}\n" + YAML_USERS,
        r"line 1, column 17: 1e9+ is no number",
    ),
    "nesting": ("users: " + "[" * 10**6, r"line 1, column (39|\d{4}): .*nested deeper than 32 levels"),
    "blocks": ("- " * 10**6, r"line 1, column 65: .*nested deeper than 32 levels"),
    "control": ("capacity: {cpu: 1}\nname: a\x07\n", r"U\+0007 is not allowed in YAML"),
    "comments only": ("# nothing\n", r"holds empty \(null\): an instance is a table"),
}


@pytest.mark.parametrize(("content", "pattern"), YAML.values(), ids=YAML)
def test_bad_yaml(tmp_path: Path, error_of: Callable, content: str, pattern: str) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(content, encoding="utf-8")
    message = error_of(path)
    assert message.startswith(f"{path}: ")
    assert re.search(pattern, message), message
