"""How much memory this process may use.

>>> available_memory() > 0
True
"""

from __future__ import annotations

import os


def address_space_limit() -> float | None:
    """Bytes that `ulimit -v` allows this process; None: no limit."""
    try:
        import resource
    except ImportError:  # no such limits here
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else float(most)


def address_space_left() -> float:
    """Bytes that this process may still reserve: infinite without a limit."""
    most = address_space_limit()
    if most is None:
        return float("inf")
    try:
        with open("/proc/self/statm") as file:
            return most - int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        return most / 2


def available_memory() -> float:
    """Bytes available for rows: the free memory of the system, or half of the process limit."""
    try:
        free = float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        free = float("inf")
    most = address_space_limit()
    return free if most is None else min(free, most / 2)
