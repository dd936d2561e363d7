"""Converts a job's return value into counts."""

from collections.abc import Mapping

Result = int | Mapping[str, int] | None


def counts_of(result: Result, kind: str) -> dict[str, int]:
    """Return the counts by kind, without zeros. A bare number counts `kind`; None counts nothing."""
    named = result if isinstance(result, Mapping) else {kind: int(result or 0)}
    return {name: int(count) for name, count in named.items() if count}


def format_counts(counts: Mapping[str, int]) -> str:
    """Render counts: "3 calls, 1 debt"."""
    return ", ".join(f"{count:,} {kind if count != 1 else _singular(kind)}" for kind, count in sorted(counts.items()))


def _singular(kind: str) -> str:
    """Return the singular of a kind; one that is not a plural ("released") is unchanged."""
    for plural, singular in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if kind.endswith(plural):
            return kind.removesuffix(plural) + singular
    return kind
