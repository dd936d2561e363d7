"""Parses a remote runner's reports."""

from dataclasses import dataclass
from typing import Any, TypeGuard

STATUSES = ("queued", "running", "succeeded", "failed", "timed_out", "cancelled")
OVER = STATUSES[2:]
SEQUENCE_MAX = 2**63 - 1


class UnreadableRunnerReport(ValueError):
    """A report is malformed. The text names the invalid member."""


@dataclass(frozen=True, slots=True)
class RunnerReport:
    """One report. `sequence` increases from report to report of a run."""

    sequence: int
    status: str
    stdout: str
    stderr: str
    exit_code: int | None
    truncated: bool


def read(body: dict[str, Any], run_id: str, output_max_bytes: int) -> RunnerReport:
    """Parse a report on a run, with its streams truncated to the limit. Raises UnreadableRunnerReport."""
    if body.get("runId") != run_id:
        raise UnreadableRunnerReport("runId")
    sequence, status, exit_code = body.get("sequence"), body.get("status"), body.get("exitCode")
    if not _is_integer(sequence) or not 0 <= sequence <= SEQUENCE_MAX:
        raise UnreadableRunnerReport("sequence")
    if status not in STATUSES:
        raise UnreadableRunnerReport("status")
    if exit_code is not None and (not _is_integer(exit_code) or abs(exit_code) >= 2**31):
        raise UnreadableRunnerReport("exitCode")
    stdout, cut = _stream(body, "stdout", output_max_bytes)
    stderr, cut_too = _stream(body, "stderr", output_max_bytes)
    truncated = body.get("truncated", False)
    if not isinstance(truncated, bool):
        raise UnreadableRunnerReport("truncated")
    return RunnerReport(sequence, status, stdout, stderr, exit_code, truncated or cut or cut_too)


def _stream(body: dict[str, Any], name: str, max_bytes: int) -> tuple[str, bool]:
    text = body.get(name, "")
    if not isinstance(text, str):
        raise UnreadableRunnerReport(name)
    written = text.encode("utf-8", "replace")
    return written[:max_bytes].decode("utf-8", "ignore").replace("\0", "\ufffd"), len(written) > max_bytes


def _is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
