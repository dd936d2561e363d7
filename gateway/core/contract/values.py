"""Dataclasses for values that every call makes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as value_class
else:
    from dataclasses import dataclass

    def value_class(cls: type | None = None, *, frozen: bool = False, **options: Any) -> Any:
        """Make a dataclass as `dataclasses.dataclass` does. `frozen` is kept by the type checker, not at run time.

        A dataclass that is frozen at run time takes four times as long to make, because it sets each field through
        `object.__setattr__`. A metered call makes some thirty of them.
        """
        options.setdefault("unsafe_hash", frozen)
        return dataclass(cls, **options)
