"""Reads upstreams' latest answers about their representations. They are configuration and have no owner."""

from gateway.core.database import BatchFunction, ledger_connection
from inference.rules.representation import ContradictedError, Representation

CLOSE_AND_NOTE = BatchFunction(0, "inference_close_representations")

_STORED = "SELECT revision, dimensions, normalized FROM inference_representation WHERE configuration = $1"


async def with_latest_facts(known: Representation) -> Representation | None:
    """Complete a representation with its upstream's latest response; None if there was none yet."""
    if known.is_complete:
        return known
    async with ledger_connection() as connection:
        rows = await connection.run(_STORED, [known.configuration])
    try:
        return known.completed(*rows[0]) if rows else None
    except ContradictedError:
        return None
