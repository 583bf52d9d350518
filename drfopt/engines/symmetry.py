"""What a fair division on machines need not tell apart: users and classes that are copies of each other.

Users whose tasks have the same proportions and who may use the same classes form a *group*; classes whose machines
have the same proportions and that the same users may use form a *kind*.  A group has one amount on each kind: it is
split among its users by their levels, and on a kind among its classes by their size, and no capacity can tell.

Letters: user i of level l adds ``scale_i l`` to the amount of her group; one unit of the amount of group g on kind q
fills ``a_qj,g`` of the kind's resource j.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..base.errors import UNRESOLVED, SolverError
from .problem import Problem

__all__ = ["Merged"]


@dataclass(frozen=True, eq=False)
class Merged:
    """A problem without copies.

    Attributes
    ----------
    group : int array (n,)
        Of each user.
    scale : array (n,)
        Amount of her group that a user's level of 1 is.
    kind : int array (k,)
        Of each class of the instance; -1 where nobody's task fits.
    part : array (k,)
        Size of the class in its kind.
    owner, place : int arrays (pairs,)
        Group and kind of each pair on which a task fits, group by group.
    proportions : array (groups, m)
        Demands of a group, the largest 1.
    room : array (kinds, m)
    """

    group: np.ndarray
    scale: np.ndarray
    kind: np.ndarray
    part: np.ndarray
    owner: np.ndarray
    place: np.ndarray
    proportions: np.ndarray
    room: np.ndarray

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.proportions)

    @classmethod
    def of(cls, problem: Problem, apart: np.ndarray | None = None) -> "Merged":
        """Merge the users and classes of a problem; users with different values of `apart` (n,) stay apart."""
        instance = problem.instance
        demands = instance.demands[problem.members]
        largest = demands.max(axis=1)
        fits = np.ones((problem.n, 1), dtype=bool) if instance.fits is None else instance.fits[problem.members]
        proportions = demands / largest[:, None]
        keys = proportions if apart is None else np.column_stack([proportions, apart])
        first, group = _alike(keys, np.packbits(fits, axis=1))
        fits, proportions = fits[first], proportions[first]

        size = instance.room.max(axis=1)
        used = np.flatnonzero(fits.any(axis=0))
        shape = instance.room[used] / size[used, None]
        example, kind_of_used = _alike(shape, np.packbits(fits[:, used].T, axis=1))
        kind = np.full(problem.k, -1)
        kind[used] = kind_of_used
        total = np.bincount(kind_of_used, weights=size[used], minlength=len(example))
        part = np.zeros(problem.k)
        part[used] = size[used] / total[kind_of_used]
        room = shape[example] * total[:, None]

        owner, place = np.nonzero(fits[:, used[example]])
        scale = largest / problem.rates
        return cls(group, scale, kind, part, owner, place, proportions, room)

    def rows(self, pairs: np.ndarray) -> tuple[np.ndarray, sparse.csc_array]:
        """Return the rows that some pairs enter, numbered through kinds and resources, (rows,), and what one unit of a
        pair's amount fills of each, (rows, pairs)."""
        m = self.room.shape[1]
        owner, place = self.owner[pairs], self.place[pairs]
        need = self.proportions[owner]
        pair, resource = np.nonzero(need)
        present, row = np.unique(place[pair] * m + resource, return_inverse=True)
        entries = need[pair, resource] / self.room.ravel()[present][row]
        starts = np.concatenate([[0], np.cumsum(np.bincount(pair, minlength=len(owner)))])
        return present, sparse.csc_array((entries, row, starts), shape=(len(present), len(owner)))

    def prices(self, rows: np.ndarray, prices: np.ndarray, k: int, m: int) -> np.ndarray:
        """Return prices of some rows (rows,) as prices of whole classes, (k, m)."""
        table = np.zeros((len(self.room) + 1, m))
        table.ravel()[rows] = prices
        return table[self.kind] * self.part[:, None]

    def joined(self, pairs: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which rows some pairs of some groups hold together, as edges (2, e), and a row of each group (g,)."""
        kinds, m = self.room.shape
        owner, place, uses = self.owner[pairs], self.place[pairs], self.proportions > 0
        first = np.zeros(self.groups, dtype=np.intp)
        first[owner[::-1]] = place[::-1]
        root = uses.argmax(axis=1)
        edges = []
        present = np.flatnonzero(np.bincount(place, minlength=kinds))
        for j in range(m):
            here = uses[groups, j]
            joined = np.zeros((kinds, kinds), dtype=bool)
            if len(pairs) == len(groups) * len(present):
                # All classes are open to all: whoever needs the resource joins its rows.
                joined[present[0], present] = here.any()
            else:
                some = uses[owner, j]
                joined[first[owner[some]], place[some]] = True
            edges.append(np.array(np.nonzero(joined)) * m + j)
            joined = np.zeros((kinds, m), dtype=bool)
            joined[first[groups[here]], root[groups[here]]] = True
            kind, resource = np.nonzero(joined)
            edges.append(np.array([kind * m + resource, kind * m + j]))
        return np.concatenate(edges, axis=1), first[groups] * m + root[groups]

    def amounts(self, problem: Problem, reached: np.ndarray, tasks: np.ndarray) -> np.ndarray:
        """Return the tasks of the problem's pairs, when groups have `reached` (pairs,) and users `tasks` (n,).

        Raises
        ------
        SolverError
            When a user has tasks and no place.
        """
        table = np.zeros((self.groups, len(self.room) + 1))
        table[self.owner, self.place] = reached
        table /= np.maximum(table.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        user, machine = problem.pairs
        share = table[self.group[user], self.kind[machine]] * self.part[machine]
        placed = np.bincount(user, weights=share, minlength=problem.n)
        if (placed[tasks > 0] == 0).any():
            raise SolverError(f"a user has a level and no place: {UNRESOLVED}")
        return share * (tasks / np.where(placed > 0, placed, 1.0))[user]


def _alike(values: np.ndarray, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an example of each different row of (values, bits), in order of appearance, and the number of each row."""
    keys = np.ascontiguousarray(np.hstack([np.ascontiguousarray(values + 0.0).view(np.uint8), bits]))
    rows = keys.view(np.dtype((np.void, keys.shape[1]))).ravel()
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return first[order], number[inverse.ravel()]
