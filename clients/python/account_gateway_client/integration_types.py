"""What the routes of the integrations answer. Members are named as on the wire; times are RFC 3339."""

from typing import Any, Literal, NamedTuple, TypedDict

Network = Literal["none", "egress"]
StreamName = Literal["stdout", "stderr"]
RunStatus = Literal["queued", "running", "succeeded", "failed", "timed_out", "cancelling", "cancelled"]
JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
StepStatus = Literal["queued", "running", "succeeded", "failed", "cancelled", "skipped"]


class Project(TypedDict):
    """A project of the account or the organization."""

    projectId: str
    name: str
    product: str
    createdAt: str


class ExecutionConfigRequest(TypedDict, total=False):
    """How a project's runs shall be executed; what is left out gets its default."""

    runtime: str
    command: list[str]
    environment: dict[str, str]
    timeoutSeconds: int
    memoryMb: int
    network: Network


class ExecutionConfig(TypedDict):
    """How a project's runs are executed."""

    projectId: str
    runtime: str
    command: list[str]
    environment: dict[str, str]
    timeoutSeconds: int
    memoryMb: int
    network: Network
    version: int
    updatedAt: str


class ExecutionError(TypedDict):
    """Why something failed, other than by its program's own exit code."""

    code: str
    message: str


class SandboxRun(TypedDict):
    """A run; stdout and stderr are what there is so far."""

    runId: str
    projectId: str
    status: RunStatus
    exitCode: int | None
    stdout: str
    stderr: str
    truncated: bool
    error: ExecutionError | None
    createdAt: str
    startedAt: str | None
    finishedAt: str | None


class Output(NamedTuple):
    """A piece of what a run wrote."""

    stream: StreamName
    text: str


class CIStep(TypedDict):
    """One step of a CI run."""

    name: str
    status: StepStatus
    startedAt: str | None
    finishedAt: str | None


class CIRun(TypedDict):
    """A CI run as its provider reported it last."""

    runId: str
    projectId: str
    provider: str
    externalId: str
    ref: str
    commit: str
    status: JobStatus
    steps: list[CIStep]
    url: str | None
    createdAt: str
    finishedAt: str | None


class Artifact(TypedDict):
    """An artifact without its content; `contentSha256` is hexadecimal, `size` bytes."""

    artifactId: str
    kind: str
    contentSha256: str
    size: int
    metadata: dict[str, Any]
    createdAt: str


class ArtifactContent(Artifact):
    """An artifact with its content, written as `encoding` says."""

    content: str
    encoding: Literal["utf-8", "base64"]


class Evidence(TypedDict):
    """What was observed of an artifact."""

    evidenceId: str
    artifactId: str
    kind: str
    payload: dict[str, Any]
    createdAt: str


class EvolutionJob(TypedDict):
    """One execution of a program over artifacts."""

    jobId: str
    program: str
    status: JobStatus
    inputs: list[str]
    evidence: list[str]
    resultArtifactId: str | None
    error: ExecutionError | None
    createdAt: str
    finishedAt: str | None


class Revision(TypedDict):
    """One activation; revision 0, without an artifact, before the first."""

    revision: int
    artifactId: str | None
    activatedAt: str | None


class ActiveRevision(Revision):
    """The active revision, and those before it, newest first; `hasMore` says whether older ones follow."""

    history: list[Revision]
    hasMore: bool
