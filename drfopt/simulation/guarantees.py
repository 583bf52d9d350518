"""What users are guaranteed, in a plan's integers."""

from .plan import Plan

__all__ = ["whole_guarantees"]


def whole_guarantees(plan: Plan) -> list[list[int]]:
    """Return n rows of m, rounded down to the plan's units."""
    resources = plan.scenario.resources
    return [
        [int(user.guarantee.get(name, 0) * unit) for name, unit in zip(resources, plan.units, strict=True)]
        for user in plan.scenario.users
    ]
