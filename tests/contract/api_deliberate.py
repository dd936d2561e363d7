"""The changes since the last release that break clients on purpose: by operation and text, with the reason, which the changelog
shows. A release empties it."""

from collections.abc import Mapping

DELIBERATE: Mapping[tuple[str, str], str] = {}
