"""NumPy, imported when one of its names is first used: it takes 12 MiB, and most gateways serve no vectors.

A process that has read a model which serves vectors imports it then (`inference.queries.catalogue`), so that no call waits for it.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["load_numpy", "numpy"]


class Deferred(ModuleType):
    """Stands for a module whose import would be early. A name that was used once is found as in any module."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy
else:
    numpy = Deferred("numpy")


def load_numpy() -> None:
    """Import NumPy now, in a tenth of a second. Repeating does nothing."""
    import_module("numpy")
