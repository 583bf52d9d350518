"""Every document that the package prints as JSON, as a model: what `drfopt.schema` publishes, and the tests hold to it.

A document says what it is under ``schema``, such as ``"drfopt allocation 1"``: the kind, and a version that grows when
a key changes its meaning or goes.  Readers take all versions up to their own and refuse newer ones.  Numbers are JSON
numbers; an exact value is text such as ``"63/25"``, or the two ends between which it is proven to lie; null stands for
what is not defined, not known or not finite.  A key with a default is left out where that is what it would say.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter

from ...base.errors import PolicyError
from ...base.registry import Registry
from ..native.entries import InstanceFile
from .allocation_models import (
    AllocationDocument,
    AuditCertificateFile,
    AuditDocument,
    BatchDocument,
    CertificateFile,
    ComparisonDocument,
    CrossCheckDocument,
    PartitionedDocument,
    PoolDocument,
    ScheduleDocument,
    SearchDocument,
    TheoremDocument,
    VerificationDocument,
)
from .planning_models import (
    ConversionDocument,
    ExplanationDocument,
    ListingDocument,
    PageDocument,
    PricesDocument,
    PurchaseDocument,
    RebalancingDocument,
    RegionDocument,
    RunDocument,
    SweepDocument,
    TrialsDocument,
    WhatIfDocument,
)

__all__ = ["DOCUMENTS", "FORMS", "Document", "schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""Of all schemas here, and the schema of what ``drfopt schema NAME`` prints."""

FORMS = {
    "solve": ("allocation", "partitioned-allocation"),
    "simulate": ("run", "trials"),
    "whatif": ("what-if", "sweep"),
    "theorems": ("listing", "theorem"),
    "schema": ("listing", DIALECT),
}
"""Commands that print one document or another; the first is what they print without further options."""


@dataclass(frozen=True)
class Document:
    """A kind of document: its name, its model, what prints it, and its version."""

    name: str
    model: type[BaseModel]
    printed_by: str
    version: int = 1

    @property
    def schema(self) -> str:
        """What such a document says of itself, such as ``"drfopt allocation 1"``."""
        return f"drfopt {self.name} {self.version}"


DOCUMENTS = Registry(
    Document("instance", InstanceFile, "convert, Instance.save"),
    Document("allocation", AllocationDocument, "solve"),
    Document("partitioned-allocation", PartitionedDocument, "solve, of users in Parquet"),
    Document("certificate", CertificateFile, "solve --certificate"),
    Document("audit-certificate", AuditCertificateFile, "audit --certificate, theorems --certificate"),
    Document("comparison", ComparisonDocument, "compare"),
    Document("cross-check", CrossCheckDocument, "crosscheck"),
    Document("verification", VerificationDocument, "verify"),
    Document("audit", AuditDocument, "audit"),
    Document("search", SearchDocument, "search"),
    Document("theorem", TheoremDocument, "theorems N"),
    Document("schedule", ScheduleDocument, "schedule"),
    Document("run", RunDocument, "simulate, one rule"),
    Document("trials", TrialsDocument, "simulate, several rules"),
    Document("explanation", ExplanationDocument, "explain"),
    Document("what-if", WhatIfDocument, "whatif"),
    Document("prices", PricesDocument, "price"),
    Document("sweep", SweepDocument, "sweep, whatif --sweep"),
    Document("purchase", PurchaseDocument, "size"),
    Document("rebalancing", RebalancingDocument, "rebalance"),
    Document("page", PageDocument, "report"),
    Document("conversion", ConversionDocument, "drfopt.read"),
    Document("batch", BatchDocument, "drfopt.solve_many"),
    Document("pool", PoolDocument, "drfopt.solve_many(...)[0]"),
    Document("assumptions", RegionDocument, "drfopt.simulation.section7.region"),
    Document("listing", ListingDocument, "engines, policies, library, formats, rules, scenarios, theorems, schema"),
    what="document",
    error=PolicyError,
    aliases={
        "compare": "comparison",
        "crosscheck": "cross-check",
        "verify": "verification",
        "explain": "explanation",
        "price": "prices",
        "size": "purchase",
        "rebalance": "rebalancing",
        "report": "page",
        "convert": "instance",
        "read": "conversion",
        "solve_many": "batch",
        "new": "instance",
        **dict.fromkeys(("engines", "policies", "library", "formats", "rules", "scenarios"), "listing"),
        **{command: forms[0] for command, forms in FORMS.items()},
    },
)
"""The documents; a command's name stands for what it prints."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document that the package reads or writes.

    Parameters
    ----------
    name : str
        Such as ``instance``, ``allocation``, ``certificate``, or the name of a command; ``drfopt schema`` lists them.
        Of a command that prints one document or another, such as ``simulate``, all of them stand under ``anyOf``.

    Returns
    -------
    dict
        In the dialect of draft 2020-12, made of the models that check instance files.

    Raises
    ------
    PolicyError
        When there is no such document.

    Examples
    --------
    >>> schema("instance")["required"]
    ['users']
    """
    row: Document = DOCUMENTS.named(name)
    if forms := FORMS.get(name):
        each = [{"$ref": form} if form == DIALECT else schema(form) for form in forms]
        return {"$schema": DIALECT, "$id": f"urn:drfopt:{name}", "title": f"drfopt {name}", "anyOf": each}
    found = TypeAdapter(row.model).json_schema(by_alias=True)
    found = {
        "$schema": DIALECT,
        "$id": f"urn:drfopt:{row.name}:{row.version}",
        **found,
        "title": row.schema,
    }
    if "schema" in found.get("properties", {}):
        found["properties"]["schema"] = {"const": row.schema, "title": "Schema"}
    return found
