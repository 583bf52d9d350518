"""XML as a tree of elements, by defusedxml: no document types, no entities, and no deeper than a tree of queues is.

The tree is built by a target of the parser, so that what is too deep is refused where it begins.
"""

from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import ParseError

from .files import File, failure

__all__ = ["Element", "root"]

DEEPEST = 64
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


class _TooDeep(Exception):
    """Raised from inside the parser."""


class _Builder:
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
        if len(self.open) > DEEPEST:
            raise _TooDeep

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
    parser: Any = DefusedXMLParser(target=_Builder(), forbid_dtd=True)
    try:
        parser.feed(file.text.encode("utf-8"))
        found = parser.close()
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise failure(place, f"line {line}, column {column + 1}: {reason}: correct the XML there") from None
    except DefusedXmlException:
        raise failure(place, "declares a document type or an entity: leave the declaration out") from None
    except _TooDeep:
        raise failure(place, f"elements are nested deeper than {DEEPEST} levels: no tree of queues is") from None
    if found is None:
        raise failure(place, "holds no element: write <allocations> ... </allocations>")
    return found
