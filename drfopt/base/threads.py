"""Threads of the linear algebra below numpy and scipy, which compete with ours and with each other."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra to one thread.

    On matrices of some hundred rows its threads wait for each other longer than they work, thirty times as long where
    another program wants a core; what is worth two cores is divided by users, parts or instances instead.
    """
    with _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@lru_cache
def _libraries(scipy_too: bool) -> ThreadpoolController:
    """Return who has a say over the libraries that are loaded; scipy brings one of its own when it is."""
    return ThreadpoolController()
