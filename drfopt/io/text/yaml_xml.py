"""YAML and XML as trees, of which nothing is built that the file does not spell out.

YAML is read event by event, and scalars keep their text.  A loader would turn 0.1 into a float, ``no`` into a boolean,
keep the last of two equal keys, and let a small file expand without end through anchors.  Here numbers are kept as
written, ``no`` is a text, and the other two are refused.

XML is read by defusedxml: no document types, no entities, and no deeper than a tree of queues is.  The tree is built by
a target of the parser, so that what is too deep is refused where it begins.
"""

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any
from xml.etree.ElementTree import ParseError

import yaml

from ...base.numbers.quantities import LONGEST
from .files import DEEPEST, DEEPEST_DOCUMENT, MUCH_TOO_DEEP, TOO_DEEP, File, failure, shown

__all__ = ["Element", "resolve", "root", "tree", "trees"]

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

NULL = {"", "~", "null", "Null", "NULL"}
BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
INTEGER = re.compile(r"[-+]?[0-9]+")
NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
OCTAL = re.compile(r"[-+]?0[0-9]+")


def resolve(text: str) -> Any:
    """Return what a plain (unquoted) scalar stands for: None, bool, int, Decimal, or the text itself.

    Raises
    ------
    ValueError
        On a number with a leading zero, which is octal in YAML 1.1 and decimal in YAML 1.2, or one too long.
    """
    if text in NULL:
        return None
    if text in BOOLEAN:
        return BOOLEAN[text]
    if NOT_FINITE.fullmatch(text):
        return Decimal(text.replace(".", "").lower())
    if not NUMBER.fullmatch(text):
        return text
    if len(text) > LONGEST:
        raise ValueError(f"{text[:37]}... is no number anybody needs: write one of at most {LONGEST} characters")
    if OCTAL.fullmatch(text):
        raise ValueError(f"{text} is octal to some readers of YAML: drop the leading zero, or put a name in quotes")
    if INTEGER.fullmatch(text):
        return int(text)
    try:
        return Decimal(text)
    except InvalidOperation:  # the exponent alone has a score of digits
        raise ValueError(f"{text} is no number anybody needs: use an exponent of at most {LONGEST}") from None


def tree(text: str, place: str) -> Any:
    """Return the one document of a YAML text.

    Raises
    ------
    InstanceError
        On a syntax error, an anchor, alias or tag, a key that is no scalar or written twice, a second
        document.
    """
    return _built(text, _Builder(place)).root


def trees(text: str, place: str) -> list[Any]:
    """Return all documents of a YAML text, of which another program decides what they say.

    Nesting goes up to `DEEPEST_DOCUMENT`; what looks like a number and is a doubtful one (``0644``) stays a text.

    Raises
    ------
    InstanceError
        As `tree`, without the second document.
    """
    return _built(text, _Builder(place, DEEPEST_DOCUMENT, many=True)).roots


def _built(text: str, builder: "_Builder") -> "_Builder":
    try:
        for event in yaml.parse(text, Loader=LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        where, what = _at(error.problem_mark or error.context_mark), str(error.problem or error.context)
        # Some versions of the parser count by themselves, and see more than they have told of.
        what = builder.too_deep if "nesting depth" in what else f"{what}: correct the YAML there"
        raise failure(builder.place, f"{where}{what}") from None
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")
        raise failure(
            builder.place,
            f"the character U+{character:04X} is not allowed in YAML: write it as an escape in double quotes",
        ) from None
    return builder


class _Builder:
    """Tables and lists under construction, on a stack of our own instead of that of the interpreter."""

    def __init__(self, place: str, deepest: int = DEEPEST, many: bool = False):
        self.place, self.deepest, self.many = place, deepest, many
        self.roots: list[Any] = []
        self.root: Any = None
        self.documents = 0
        self.open: list[Any] = []
        self.keys: list[str | None] = []

    @property
    def too_deep(self) -> str:
        """What is said of lists and tables that are nested deeper than is read."""
        return TOO_DEEP if self.deepest == DEEPEST else MUCH_TOO_DEEP

    def take(self, event: Any) -> None:
        """Add what one event says."""
        if isinstance(event, yaml.ScalarEvent):
            self._plain_node(event)
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._plain_node(event)
            made: dict | list = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._add(made, event)
            self.open.append(made)
            self.keys.append(None)
            if len(self.open) > self.deepest:
                self._refuse(event, self.too_deep)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.open.pop()
            self.keys.pop()
        elif isinstance(event, yaml.AliasEvent):
            self._refuse(event, f"the alias {shown(f'*{event.anchor}')} is not read: write the values out")
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1 and not self.many:
                self._refuse(event, "a second document begins: keep one in a file")
            self.root = None
        elif isinstance(event, yaml.DocumentEndEvent):
            self.roots.append(self.root)

    def _scalar(self, event: Any) -> None:
        if self.open and isinstance(self.open[-1], dict) and self.keys[-1] is None:
            if event.value in self.open[-1]:
                self._refuse(event, f"key {shown(event.value)} is written twice in one table: keep one of them")
            self.keys[-1] = event.value
            return
        if not event.implicit[0] or event.style:
            value = event.value
        else:
            try:
                value = resolve(event.value)
            except ValueError as error:
                if not self.many:
                    self._refuse(event, str(error))
                value = event.value
        self._add(value, event)

    def _add(self, value: Any, event: Any) -> None:
        if not self.open:
            self.root = value
        elif isinstance(self.open[-1], list):
            self.open[-1].append(value)
        elif self.keys[-1] is None:
            self._refuse(event, "a list or a table is used as a key: write a name")
        else:
            self.open[-1][self.keys[-1]] = value
            self.keys[-1] = None

    def _plain_node(self, event: Any) -> None:
        if event.anchor is not None:
            self._refuse(event, f"the anchor {shown('&' + event.anchor)} is not read: write the values out")
        if event.tag is not None and event.tag != "!":
            self._refuse(event, f"the tag {shown(event.tag)} is not read: write the value without it")

    def _refuse(self, event: Any, sentence: str) -> None:
        raise failure(self.place, f"{_at(event.start_mark)}{sentence}")


def _at(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""


DEEPEST_XML = 64
"""Levels of nesting that are read; a tree of queues is rarely deeper than six."""


@dataclass
class Element:
    """An element: its tag, its attributes, its text without spaces around it, and the elements in it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    children: "list[Element]" = field(default_factory=list)

    def child(self, *tags: str) -> "Element | None":
        """Return the first child with one of these tags."""
        return next((child for child in self.children if child.tag in tags), None)


class _TooDeepXml(Exception):
    """Raised from inside the parser."""


class _Elements:
    """What the parser calls; the elements under construction are on a stack of our own."""

    def __init__(self) -> None:
        self.open: list[Element] = []
        self.root: Element | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        element = Element(tag.rpartition("}")[2], dict(attributes))
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        if len(self.open) > DEEPEST_XML:
            raise _TooDeepXml

    def end(self, tag: str) -> None:
        """End an element."""
        element = self.open.pop()
        element.text = element.text.strip()

    def data(self, text: str) -> None:
        """Add text to the element that is open."""
        if self.open and (self.open[-1].text or text.strip()):
            self.open[-1].text += text

    def close(self) -> Element | None:
        """Return the root."""
        return self.root


def root(file: File) -> Element:
    """Return the root element of an XML file.

    Raises
    ------
    InstanceError
        When the file is not XML, declares a document type or an entity, or is nested too deep.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    place = file.place
    parser: Any = DefusedXMLParser(target=_Elements(), forbid_dtd=True)
    try:
        parser.feed(file.text.encode("utf-8"))
        found = parser.close()
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise failure(place, f"line {line}, column {column + 1}: {reason}: correct the XML there") from None
    except DefusedXmlException:
        raise failure(place, "declares a document type or an entity: leave the declaration out") from None
    except _TooDeepXml:
        raise failure(place, f"elements are nested deeper than {DEEPEST_XML} levels: no tree of queues is") from None
    if found is None:
        raise failure(place, "holds no element: write <allocations> ... </allocations>")
    return found
