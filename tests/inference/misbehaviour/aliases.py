"""The models that the rows are tried on."""

from typing import Any

from tests.inference.misbehaviour.row import Row
from tests.support.stage import Stage


class Aliases:
    """Makes an alias for each row and kind of upstream once: a gateway reads all of them again whenever one is added."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._made: dict[tuple[Any, ...], str] = {}

    def of(self, row: Row, **upstream: Any) -> str:
        """Return the alias of a row at an upstream with these fields."""
        key = (row.name, *sorted(upstream.items()))
        if key not in self._made:
            self._made[key] = self._make(row, upstream)
        return self._made[key]

    def _make(self, row: Row, upstream: dict[str, Any]) -> str:
        options = {**row.options, **({"routes": [row.known]} if row.known else {})}
        served_by = self._stage.upstream_row(adapter=row.adapter, options=options, **upstream)
        if row.alias is not None:
            return row.alias(self._stage, served_by)
        alias_options = {"routes": [row.route], **row.fields.get("options", {})}
        return self._stage.model(price=row.price, upstream=served_by, **{**row.fields, "options": alias_options})
