"""One max-min program by the package dede, in a Python of its own: ``decomposed.py PROGRAM.npz CPUS``.

dede 0.1.6 asks for a cvxpy and a numpy that do not go with ours, so whoever has it names the Python that can import it
in ``DEDE_PYTHON``; `drfopt` is not imported here.  Prints the value as the last line.  dede ends by its own rule, when
an iteration changes its objective by less than 1 %.
"""

import sys

import dede
import numpy as np


def main(program: str, cpus: int) -> None:
    """State the program, a part a class and a part a user, and solve it."""
    given = np.load(program)
    fits, need, room = given["fits"], given["need"], given["room"]
    x, level = dede.Variable(fits.shape, nonneg=True), dede.Variable(len(fits), nonneg=True)
    classes = [
        (need[open_to, j] / full) @ x[open_to, k] <= 1
        for k, row in enumerate(room)
        for open_to in [np.flatnonzero(fits[:, k])]
        for j, full in enumerate(row)
        if open_to.size and full > 0
    ]
    users = [x[i, np.flatnonzero(row)].sum() >= level[i] for i, row in enumerate(fits)]
    problem = dede.Problem(dede.Maximize(level.sum()), [*classes, level[1:] == level[:-1]], users)
    print(abs(float(problem.solve(num_cpus=cpus, solver=dede.CLARABEL))))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
