"""The tables of the integrations app, one noun per file."""

from integrations.models.account_key import AccountKey
from integrations.models.ci_provider import CIProvider, CIRepository
from integrations.models.ci_run import CIRun
from integrations.models.evolution import EvolutionArtifact, EvolutionEvidence, EvolutionRevision
from integrations.models.evolution_job import EvolutionJob, EvolutionProgram
from integrations.models.execution_config import ExecutionConfig
from integrations.models.project import Project
from integrations.models.sandbox_run import SandboxRun
from integrations.models.sandbox_settings import SandboxSettings
from integrations.models.switch import IntegrationSwitch

__all__ = [
    "AccountKey",
    "CIProvider",
    "CIRepository",
    "CIRun",
    "EvolutionArtifact",
    "EvolutionEvidence",
    "EvolutionJob",
    "EvolutionProgram",
    "EvolutionRevision",
    "ExecutionConfig",
    "IntegrationSwitch",
    "Project",
    "SandboxRun",
    "SandboxSettings",
]
