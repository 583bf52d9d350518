"""From the text of an instance file to a tree of tables, lists and numbers kept as they are written.

The three formats meet here: whatever comes out consists of ``dict`` with text keys, ``list``, ``str``,
``int``, ``Decimal``, ``bool`` and None (TOML adds dates). A key written twice is an error in each of them.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NoReturn

from ...base.errors import InstanceError
from ...base.numbers.quantities import LONGEST
from ...base.registry import unknown
from ..text.files import (
    DEEPEST,
    DEEPEST_DOCUMENT,
    FORMATS,
    MUCH_TOO_DEEP,
    STANDARD_INPUT,
    TOO_DEEP,
    failure,
    format_of,
    read_text,
)

__all__ = ["checked_text", "read_as", "sniff", "tree", "trees"]

PARTS = 8
"""Parts of a dotted key; an instance needs three, and the time of tomllib grows with their cube."""

TOML_WORDS = re.compile(
    r'''
      """ (?: [^"\\]++ | \\. | "(?!"") )*+ (?: """ | \Z )
    | \'\'\' (?: [^']++ | '(?!'') )*+ (?: \'\'\' | \Z )
    | \# [^\n]*+
    | (?P<key> KEY (?: [ \t]*+ \. [ \t]*+ KEY )*+ )
    '''.replace("KEY", r"""(?: "(?: [^"\\\n]++ | \\. )*+ (?: " | (?=\n) | \Z) | '[^'\n]*+ '?+ | [\w+-]++ )"""),
    re.VERBOSE | re.DOTALL,
)
"""Strings, comments and dotted keys. Every scan ends in a match of all that it saw, so it is linear."""

HEADING = re.compile(r"\[\[?(?:[^\[\]{},]*\]|\s*[A-Za-z_'])")
"""How a heading of TOML begins, one without its last bracket as well, and no list of JSON that an instance could be."""

HEADED = re.compile(r"\s*\[\[?\s*(?P<name>[^\]]*[^\]\s])")

TWICE = (
    "is there already: head every table of a list [[users]] or [[machines]], in double brackets, any other table once"
)
"""What is said of a heading that stands twice, and of one in single brackets beside one in double ones."""

JSON_SPACE = re.compile(r"[ \t\r\n]*+")

JSON_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|(?P<open>[\[{])|(?P<close>[\]}])', re.DOTALL)

UNQUOTED = {
    "Expected newline or end of document after a statement",
    "Invalid value",
    "Unclosed inline table",
    "Unclosed array",
    "Expecting value",
    "Expecting ',' delimiter",
}
"""What the parsers say, among other occasions, of a quantity without quotes."""

QUOTES = """ (texts, quantities such as "4Gi" and fractions such as "1/3" stand in quotes)"""


def tree(text: str, form: str, place: str) -> Any:
    """Return what `text` says in the format `form` (``toml``, ``json`` or ``yaml``).

    Raises
    ------
    InstanceError
        On a syntax error, with line and column.
    """
    return {"toml": _toml, "json": _json, "yaml": _yaml}[form](text, place)


def trees(text: str, place: str) -> list[Any]:
    """Return what other programs wrote: JSON documents one after the other, or those of a YAML text.

    Raises
    ------
    InstanceError
        On a syntax error, with line and column; on nesting deeper than `DEEPEST_DOCUMENT`.
    """
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _json_values(text, place)
        except InstanceError:
            # YAML may begin so too; JSON is tried first, because it is read many times faster.
            if FORMATS.get(Path(place.lower().removesuffix(".gz")).suffix) != "yaml":
                raise
    from ..text.yaml_xml import trees as documents

    return documents(text, place)


def _yaml(text: str, place: str) -> Any:
    # YAML is loaded where some is read only.
    from ..text.yaml_xml import tree as read

    return read(text, place)


def read_as(path: str | Path, empty: str) -> tuple[str, str, str]:
    """Return the text of a file, its format by its suffix, and its place; ``-`` is standard input, in any format.

    The file comes first: that it is missing is worth more to know than that its suffix is odd.  `empty` is said of one
    without text.
    """
    text = read_text(path, empty)
    if str(path) == "-":
        return text, sniff(text), STANDARD_INPUT
    return text, format_of(path), str(path)


def checked_text(text: str, format: str | None, place: str, empty: str) -> tuple[str, str]:
    """Return a text without its byte order mark, and its format: found out from the text where none is given.

    Raises
    ------
    InstanceError
        Where the format is unknown, or there is no text: `empty` is said of that.
    """
    text = text.removeprefix("\ufeff")
    found, known = sniff(text) if format is None else format, sorted(set(FORMATS.values()))
    if found not in known:
        raise InstanceError(unknown("format", found, known))
    if not text.strip():
        raise failure(place, empty)
    return text, found


def sniff(text: str) -> str:
    """Return the format `text` seems to be in, by its first line that says something."""
    for line in text.splitlines():
        said = line.strip()
        if not said or said.startswith("#"):
            continue
        if said.startswith("{"):
            return "json"
        if said.startswith("["):
            return "toml" if HEADING.match(said) else "json"
        mark = re.search(r"[:=]", re.sub(r"""^("[^"]*"|'[^']*')""", "", said))
        return "toml" if mark and mark.group() == "=" else "yaml"
    return "toml"


def _at(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"line {line}, column {position - text.rfind(chr(10), 0, position)}"


# ---- numbers -----------------------------------------------------------------------------------------------


class _LongNumber(Exception):
    """A number longer than any sensible one, raised from inside a parser."""


def _integer(literal: str) -> int:
    if len(literal) > LONGEST:
        raise _LongNumber(literal)
    return int(literal)


def _decimal(literal: str) -> Decimal:
    if len(literal) > LONGEST:
        raise _LongNumber(literal)
    try:
        return Decimal(literal.replace("_", ""))
    except InvalidOperation:  # the exponent alone has a score of digits
        raise _LongNumber(literal) from None


def _too_long(text: str, literal: str, place: str) -> NoReturn:
    brief = literal if len(literal) <= 40 else f"{literal[:37]}..."
    raise failure(
        place,
        f"{_at(text, text.find(literal))}: {brief} is no number anybody needs: "
        f"write one of at most {LONGEST} characters",
    ) from None


# ---- TOML --------------------------------------------------------------------------------------------------


def _toml(text: str, place: str) -> Any:
    text = text.replace("\r\n", "\n")
    _check_words(text, place)
    try:
        return tomllib.loads(text, parse_float=_decimal)
    except tomllib.TOMLDecodeError as error:
        reason, where = _toml_reason(str(error), text)
        raise failure(place, f"{where}: {reason}: correct the TOML there") from None
    except _LongNumber as error:
        _too_long(text, str(error), place)
    except RecursionError:
        raise failure(place, TOO_DEEP) from None


def _check_words(text: str, place: str) -> None:
    """Refuse what tomllib would take forever over: dotted keys without end, numbers of a million digits."""
    for match in TOML_WORDS.finditer(text):
        key = match["key"]
        if key is None or len(key) <= 2 * PARTS:
            continue
        if len(key) > LONGEST and (long := re.search(rf"(?<![\w+-])[\w+-]{{{LONGEST + 1},}}+", _bare(key))):
            position = match.start() + long.start()
            raise failure(
                place,
                f"{_at(text, position)}: a word of {len(long.group())} characters: "
                f"write at most {LONGEST}, or put a text in quotes",
            )
        if _bare(key).count(".") >= PARTS:
            raise failure(
                place,
                f"{_at(text, match.start())}: a dotted key of more than {PARTS} parts: "
                "put a name that contains dots in quotes",
            )


def _bare(key: str) -> str:
    """Return the key with the inside of its quoted parts blanked, at the same length."""
    if '"' not in key and "'" not in key:
        return key
    return re.sub(r""""(?:[^"\\\n]++|\\.)*+"?+|'[^'\n]*+'?+""", lambda found: " " * len(found.group()), key, flags=re.S)


def _toml_reason(message: str, text: str) -> tuple[str, str]:
    found = re.fullmatch(r"(.*) \(at (.*)\)", message, re.DOTALL)
    reason, where = found.groups() if found else (message, "somewhere")
    if reason == "Cannot overwrite a value" or reason.startswith("Cannot declare"):
        line = re.match(r"line (\d+),", where)
        heading = HEADED.match(text.split("\n")[int(line[1]) - 1]) if line else None
        reason = f"{heading['name']} {TWICE}" if heading else "a key is written twice in one table"
    elif reason in UNQUOTED:
        reason += QUOTES
    return reason, where


# ---- JSON --------------------------------------------------------------------------------------------------


def _json(text: str, place: str) -> Any:
    return _decoded(text, place, DEEPEST, TOO_DEEP, lambda decoder, read: decoder.decode(read))


def _json_values(text: str, place: str) -> list[Any]:
    """Return the values of a text that holds one after the other, on lines of their own or not."""

    def everything(decoder: json.JSONDecoder, read: str) -> list[Any]:
        found, position = [], 0
        while space := JSON_SPACE.match(read, position):
            if space.end() == len(read):
                break
            value, position = decoder.raw_decode(read, space.end())
            found.append(value)
        return found

    return _decoded(text, place, DEEPEST_DOCUMENT, MUCH_TOO_DEEP, everything)


def _decoded(text: str, place: str, deepest: int, too_deep: str, decode: Callable[[json.JSONDecoder, str], Any]) -> Any:
    twice: list[tuple[dict, str]] = []

    def table(pairs: list[tuple[str, Any]]) -> dict:
        made = dict(pairs)
        if len(made) < len(pairs) and not twice:
            twice.append((made, Counter(key for key, _ in pairs).most_common(1)[0][0]))
        return made

    decoder = json.JSONDecoder(
        object_pairs_hook=table, parse_int=_integer, parse_float=_decimal, parse_constant=Decimal
    )
    deep = _first_too_deep(text, deepest)
    # What comes before the first bracket that is too deep is safe to parse, and may hold the real mistake.
    read = text if deep is None else text[:deep]
    try:
        found = decode(decoder, read)
    except json.JSONDecodeError as error:
        if deep is not None and error.pos >= deep:
            raise failure(place, f"{_at(text, deep)}: {too_deep}") from None
        where = f"line {error.lineno}, column {error.colno}"
        hint = QUOTES if error.msg in UNQUOTED and error.pos else ""
        raise failure(place, f"{where}: {error.msg}{hint}: correct the JSON there") from None
    except _LongNumber as error:
        _too_long(text, str(error), place)
    if twice:
        made, key = twice[0]
        raise failure(place, f"{_path_to(found, made)}key {key!r} is written twice in one table: keep one of them")
    return found


def _first_too_deep(text: str, deepest: int) -> int | None:
    """Return where the nesting exceeds `deepest`: the parser is in C, and its stack is not ours to risk."""
    depth = 0
    for match in JSON_BRACKETS.finditer(text):
        if match.lastgroup == "open":
            depth += 1
            if depth > deepest:
                return match.start()
        elif match.lastgroup == "close":
            depth -= 1
    return None


def _path_to(root: Any, wanted: dict, path: str = "") -> str:
    """Return where in the tree a table is, as ``users[0].demand: ``, or an empty string."""
    if root is wanted:
        return f"{path.lstrip('.')}: " if path else ""
    steps: list[tuple[str, Any]] = []
    if isinstance(root, dict):
        steps = [(f"{path}.{key}", value) for key, value in root.items()]
    elif isinstance(root, list):
        steps = [(f"{path}[{i}]", value) for i, value in enumerate(root)]
    return next((found for step, value in steps if (found := _path_to(value, wanted, step))), "")
