"""Rules as one would write them down first: after every event, look at everybody and at every machine, in fractions."""

from fractions import Fraction

from drfopt.simulation import Rule


class Naive(Rule):
    """Serve the lowest of a measure, and look at everything for it."""

    def __init__(self, measure, when_full="skip"):
        self.measure, self.when_full = measure, when_full
        self.name = f"naive {measure.__name__}"

    def dispatch(self, cluster):
        refused = set()
        while True:
            asking = [
                (self.measure(cluster, user, kind), user, line[0].number, kind)
                for user in range(cluster.n)
                for kind, line in cluster.queues[user].items()
                if kind not in refused and cluster.able[kind]
            ]
            if not asking:
                return
            _, user, _, kind = min(asking)
            machine = next((k for k in cluster.able[kind] if cluster.up[k] and cluster.fits(kind, k)), None)
            if machine is not None:
                cluster.start(user, kind, machine)
            elif self.when_full == "stop":
                return
            else:
                refused.add(kind)


def shares(cluster, user, held):
    weight = cluster.plan.weights[user]
    return [
        Fraction(h, total) / weight if total else Fraction(0) for h, total in zip(held, cluster.totals, strict=True)
    ]


def drf(cluster, user, kind):
    return max(shares(cluster, user, cluster.used[user]))


def asset(cluster, user, kind):
    return sum(shares(cluster, user, cluster.used[user]))


def ahead(cluster, user, kind):
    demand = cluster.plan.kinds[kind].demand
    return max(shares(cluster, user, [a + b for a, b in zip(cluster.used[user], demand, strict=True)]))


def fifo(cluster, user, kind):
    line = cluster.queues[user][kind]
    lots = sorted(line, key=lambda lot: (lot.job.arrival, lot.job.coming.index, lot.job.number))
    line.clear()
    line.extend(lots)
    job = lots[0].job
    return (job.arrival, user, job.coming.index, job.number)
