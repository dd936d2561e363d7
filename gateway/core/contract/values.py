"""Dataclasses for values that every call creates."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as value_class
else:
    from dataclasses import dataclass

    def value_class(cls: type | None = None, *, frozen: bool = False, **options: Any) -> Any:
        """Build a dataclass as `dataclasses.dataclass` does. `frozen` is enforced by the type checker, not at run time.

        An instance of a dataclass that is frozen at run time takes four times as long to create, because it sets each
        field with `object.__setattr__`. A metered call creates about thirty of them.
        """
        options.setdefault("unsafe_hash", frozen)
        return dataclass(cls, **options)
