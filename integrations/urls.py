"""URLs of the optional integrations. SPEC: Optional first-party integrations."""

from django.urls import path

from integrations.views import webhooks
from integrations.views.account_keys import AccountKeyViewSet
from integrations.views.ci_runs import CIRunViewSet
from integrations.views.evolution import ActiveRevisionViewSet, ArtifactViewSet, EvidenceViewSet
from integrations.views.evolution_jobs import EvolutionJobViewSet
from integrations.views.projects import ExecutionConfigViewSet, ProjectViewSet
from integrations.views.sandbox_runs import SandboxRunViewSet

urlpatterns = [
    path("v1/projects", ProjectViewSet.as_view({"get": "list"})),
    path(
        "v1/projects/<str:project_id>/execution-config",
        ExecutionConfigViewSet.as_view({"get": "retrieve", "put": "update"}),
    ),
    path("v1/sandbox/runs", SandboxRunViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/sandbox/runs/<str:run_id>", SandboxRunViewSet.as_view({"get": "retrieve"})),
    path("v1/sandbox/runs/<str:run_id>/cancel", SandboxRunViewSet.as_view({"post": "cancel"})),
    path("v1/ci/runs", CIRunViewSet.as_view({"get": "list"})),
    path("v1/ci/runs/<str:run_id>", CIRunViewSet.as_view({"get": "retrieve"})),
    path("v1/evolution/artifacts", ArtifactViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/evolution/artifacts/<str:artifact_id>", ArtifactViewSet.as_view({"get": "retrieve"})),
    path("v1/evolution/evidence", EvidenceViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/evolution/jobs", EvolutionJobViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/evolution/jobs/<str:job_id>", EvolutionJobViewSet.as_view({"get": "retrieve"})),
    path("v1/evolution/active-revision", ActiveRevisionViewSet.as_view({"get": "retrieve", "put": "update"})),
    path("v1/sync/account-key", AccountKeyViewSet.as_view({"post": "create"})),
    path("webhooks/ci/<str:provider>", webhooks.ci),
    path("webhooks/sandbox/<str:run_id>", webhooks.sandbox),
]
