"""Sandbox runs: programs of a project, executed once, with output that can be read while they run."""

import uuid
from collections.abc import Iterator, Mapping, Sequence

from account_gateway_client.executions import POLL_SECONDS, finished, followed, is_over
from account_gateway_client.integration_types import Output, SandboxRun, StreamName
from account_gateway_client.routes import Page, Routes, given, segment

_STREAMS: tuple[StreamName, ...] = ("stdout", "stderr")


class Sandbox(Routes):
    """The routes of sandbox runs. They need `sandbox:run`, `sandbox:read` and `sandbox:cancel`."""

    def create(
        self,
        project_id: str,
        command: Sequence[str] | None = None,
        *,
        files: Mapping[str, str] | None = None,
        stdin: str | None = None,
        timeout_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> SandboxRun:
        """Queue a run; without a command, of the project's own. The same key names the same run, so give your own and send
        it again where an answer was lost."""
        body = given(
            projectId=project_id,
            command=None if command is None else list(command),
            files=None if files is None else dict(files),
            stdin=stdin,
            timeoutSeconds=timeout_seconds,
            idempotencyKey=idempotency_key or uuid.uuid4().hex,
        )
        run: SandboxRun = self._send("POST", "/v1/sandbox/runs", json=body)
        return run

    def list(self, limit: int = 20, *, after: str | None = None) -> Page[SandboxRun]:
        """Return the latest runs, newest first, 1 to 100 of them; with `after`, those behind the one of that id."""
        return self._page("/v1/sandbox/runs", limit, after)

    def get(self, run_id: str) -> SandboxRun:
        """Return a run with its output so far."""
        run: SandboxRun = self._send("GET", f"/v1/sandbox/runs/{segment(run_id)}")
        return run

    def cancel(self, run_id: str) -> SandboxRun:
        """Ask for the end of a run and all of its processes; repeating changes nothing."""
        run: SandboxRun = self._send("POST", f"/v1/sandbox/runs/{segment(run_id)}/cancel")
        return run

    def wait(self, run_id: str, *, poll_seconds: float = POLL_SECONDS) -> SandboxRun:
        """Wait until a run is over, and return it."""
        return finished(lambda: self.get(run_id), poll_seconds)

    def output(self, run_id: str, *, poll_seconds: float = POLL_SECONDS) -> Iterator[Output]:
        """Yield what the run writes, while it writes; ends with the run. Whoever stops reading leaves the run alone."""
        read = dict.fromkeys(_STREAMS, 0)
        for run in followed(lambda: self.get(run_id), poll_seconds):
            for stream in _STREAMS:
                text = _settled(run, stream)[read[stream] :]
                read[stream] += len(text)
                if text:
                    yield Output(stream, text)


def _settled(run: SandboxRun, stream: StreamName) -> str:
    """Leave out the end of what is being written: half a character shows as U+FFFD until the rest of it is there."""
    return run[stream] if is_over(run) else run[stream].rstrip("\ufffd")
