"""Random small scenarios, degenerate on purpose: ties, tasks that need nothing of a resource, fit exactly or never."""

from fractions import Fraction

import numpy as np

from drfopt.model.instance import Machine
from drfopt.simulation import Draw, Job, Outage, Scenario, Stage, User

RESOURCES = ("cpu", "memory", "gpu")
TIMES = (1.0, 1.0, 2.0, 0.5, Fraction(1, 3))


def small_scenario(seed: int) -> Scenario:
    """Return the same scenario for the same seed."""
    random = np.random.default_rng([2026, seed])

    def one(values):
        return values[int(random.integers(len(values)))]

    def chance(part):
        return bool(random.random() < part)

    resources = RESOURCES[: one((1, 2, 2, 3))]
    machines = tuple(
        Machine(
            f"m{k}",
            {resource: one((0, 2, 4, 4, 6)) for resource in resources} | {"cpu": one((1, 2, 4))},
            one((1, 1, 3)),
        )
        for k in range(one((1, 1, 2)))
    )

    def stage(last):
        demand = {resource: one((0, 1, 1, 2, 3, "1/2")) for resource in resources}
        if chance(0.8):
            demand["cpu"] = one((1, 1, 2, "1/2"))
        if not any(demand.values()):
            demand["cpu"] = 1
        duration = one((float(one(TIMES)), Draw("exponential", mean=1), Draw("uniform", low=0.5, high=2)))
        classes = (machines[0].name,) if chance(0.2) else None
        if chance(0.15):
            return Stage(demand, None, duration, lasts=one((1, 2.5)), machines=classes)
        tasks = one((1, 2, 5, 9))
        if chance(0.1) and last:
            duration = None
        elif chance(0.1):
            duration = tuple(float(one(TIMES)) for _ in range(tasks))
        return Stage(demand, tasks, duration, lasts=2.0 if chance(0.1) else None, machines=classes)

    def job():
        stages = one((1, 1, 1, 2, 3))
        every = one((None, 0.5, Draw("exponential", mean=1)))
        return Job(
            tuple(stage(k == stages - 1) for k in range(stages)),
            arrival=one((0, 0, 1, 2.5)),
            count=one((1, 1, 2, 4, None)),
            every=every,
        )

    users = tuple(
        User(
            f"u{i}",
            tuple(job() for _ in range(one((0, 1, 1, 2)))),
            weight=one((1, 1, 1, 2, "1/3")),
            leaves=one((float("inf"), float("inf"), 3.0)),
        )
        for i in range(one((1, 2, 3, 4)))
    )
    outages = tuple(
        Outage(lost.name, one((0.5, 1.0, 2.0)), min(one((1, 2)), lost.count), one((None, 1.0)))
        for lost in (one(machines) for _ in range(one((0, 0, 1, 2))))
    )
    return Scenario(machines, users, outages, until=one((4.0, 8.0)))
