"""All that the gateway uses of prometheus-client beyond its documentation, which any release may change (docs/decisions/0065)."""

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from prometheus_client import Histogram, values
from prometheus_client.mmap_dict import MmapedDict

FOLDER = "PROMETHEUS_MULTIPROC_DIR"

_FIRST_BYTES = 256 * 1024
_ENTRY_BYTES_MAX = 64
"""What an entry takes beside its key."""


class AllocatedDict(MmapedDict):
    """A file of values whose space is allocated before it is mapped.

    The library's own files are sparse: on a full disk, the first store into a page that has no space yet is a SIGBUS, which
    would end a server with all of its calls. This one raises OSError instead.
    """

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        with Path(filename).open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, _FIRST_BYTES)
        super().__init__(filename, read_mode)

    def _init_value(self, key: str) -> None:
        if self._used + len(key.encode()) + _ENTRY_BYTES_MAX > self._capacity:  # it is about to be doubled
            os.posix_fallocate(self._f.fileno(), 0, self._capacity * 2)
        super()._init_value(key)


def write_to(folder: Path, number: Callable[[], str]) -> None:
    """Have every metric that this process makes from now on kept in files of the folder, which its number names.

    The library decides this by the environment when it is imported, and names the files by process ids.
    """
    os.environ[FOLDER] = str(folder)
    values.MmapedDict = AllocatedDict  # type: ignore[misc]
    values.ValueClass = values.MultiProcessValue(number)


def observe_all(histogram: Histogram, amounts: Sequence[float]) -> None:
    """Observe each amount, with one store for each bucket that has any."""
    bounds = histogram._upper_bounds  # noqa: SLF001
    for index, count in Counter(bisect_left(bounds, amount) for amount in amounts).items():
        histogram._buckets[index].inc(count)  # noqa: SLF001
    histogram._sum.inc(sum(amounts))  # noqa: SLF001
