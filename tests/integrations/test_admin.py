"""Console pages for the integrations: changes, their log, and contents that operators never see."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from integrations.models import (
    CIProvider,
    CIRun,
    EvolutionArtifact,
    EvolutionEvidence,
    EvolutionJob,
    EvolutionProgram,
    EvolutionRevision,
    IntegrationSwitch,
    Project,
    SandboxRun,
)
from tests.gateway.console import CONTENT, furnish
from tests.gateway.operators import errors

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-primary-secret")
    furnish(tmp_path)
    client = Client()
    client.force_login(Account.objects.create_superuser("did:web:localhost:op", "op@example.com", "operator"))
    return client


def change(operator: Client, row: Any, **fields: str) -> Any:
    return operator.post(reverse(f"admin:integrations_{row._meta.model_name}_change", args=[row.pk]), fields)


def save_provider(operator: Client, **fields: str) -> CIProvider:
    provider = CIProvider.objects.get()
    rows = {"TOTAL_FORMS": "0", "INITIAL_FORMS": "0"}
    inline = {f"repositories-{name}": value for name, value in rows.items()}
    answer = change(operator, provider, name="forge", format="workflow_run", **inline, **fields)
    assert answer.status_code == 303
    provider.refresh_from_db()
    return provider


def test_a_providers_secret_is_rotated(operator: Client) -> None:
    assert save_provider(operator).secrets == ["sk-literal-secret"]
    both = save_provider(operator, secret="newer-webhook-secret", previous_secret="sk-literal-secret")
    assert both.secrets == ["newer-webhook-secret", "sk-literal-secret"]
    assert save_provider(operator).secrets == both.secrets
    listed = operator.get(reverse("admin:integrations_ciprovider_changelist")).content.decode()
    assert not {text for text in both.secrets if text in listed}
    assert save_provider(operator, previous_secret="", remove_previous_secret="on").secrets == ["newer-webhook-secret"]
    logged = list(
        LogEntry.objects.filter(content_type__model="ciprovider", object_id=str(both.pk)).values_list(
            "change_message", flat=True
        )
    )
    assert len(logged) == 5  # with that of the file that created the provider
    assert not [text for text in logged if "newer-webhook-secret" in text or "sk-literal-secret" in text]


@pytest.mark.parametrize("field", ["secret", "previous_secret"])
@pytest.mark.parametrize(
    ("secret", "words"),
    [
        ("seven77", "This must have at least 8 characters, so that it cannot be guessed."),
        ("the-others-secret", "This is also a secret of another provider, who could sign for this one."),
        ("the-others-previous-secret", "This is also a secret of another provider, who could sign for this one."),
    ],
)
def test_a_secret_that_others_know_or_can_guess_is_refused(
    operator: Client, field: str, secret: str, words: str
) -> None:
    provider = CIProvider.objects.get()
    CIProvider.objects.create(
        name="other", format="generic", secret="the-others-secret", previous_secret="the-others-previous-secret"
    )
    sent = {"name": "forge", "format": "workflow_run", field: secret}
    rows = {"repositories-TOTAL_FORMS": "0", "repositories-INITIAL_FORMS": "0"}
    assert errors(change(operator, provider, **sent, **rows)) == {field: [words]}
    before = provider.secrets
    provider.refresh_from_db()
    assert provider.secrets == before


def test_a_project_shows_how_its_runs_are_executed_but_no_value(operator: Client) -> None:
    project = Project.objects.get()
    page = operator.get(reverse("admin:integrations_project_change", args=[project.pk])).content.decode()
    assert "API_KEY" in page
    assert CONTENT not in page
    fields = {"key": "docs", "owner_kind": "account", "owner_key": project.owner_key, "product": "studio"}
    rows = {"execution_config-TOTAL_FORMS": "0", "execution_config-INITIAL_FORMS": "0"}
    assert change(operator, project, name="Renamed", **fields, **rows).status_code == 303
    assert Project.objects.get().name == "Renamed"
    assert project.execution_config.version == 1
    assert LogEntry.objects.filter(object_id=project.pk, change_message__contains="Name").exists()


def test_cancelling_runs_is_logged_for_each(operator: Client) -> None:
    run = SandboxRun.objects.get()
    chosen = {"action": "cancel", "_selected_action": [run.pk], "reason": "too long"}
    for _ in range(2):
        assert operator.post(reverse("admin:integrations_sandboxrun_changelist"), chosen).status_code == 303
    run.refresh_from_db()
    assert run.status == "cancelled"
    assert LogEntry.objects.filter(object_id=run.pk, change_message="Cancelled: too long").count() == 1


def test_a_providers_texts_are_escaped(operator: Client) -> None:
    page = operator.get(reverse("admin:integrations_cirun_change", args=[CIRun.objects.get().pk])).content.decode()
    assert "build &lt;b&gt;: queued" in page


@pytest.mark.parametrize(
    ("model", "name", "other"),
    [
        (Project, "key", "renamed"),
        (EvolutionProgram, "name", "renamed"),
        (IntegrationSwitch, "name", "account_key_sync"),
    ],
)
def test_natural_keys_are_read_only(operator: Client, model: type[Model], name: str, other: str) -> None:
    IntegrationSwitch.objects.exclude(name="evolution").delete()
    row = model._default_manager.get()
    before = getattr(row, name)
    rows = {"execution_config-TOTAL_FORMS": "0", "execution_config-INITIAL_FORMS": "0"}
    page = operator.get(reverse(f"admin:integrations_{row._meta.model_name}_change", args=[row.pk]))
    assert page.context["adminform"].fieldsets[0][1]["fields"][0] == name
    shown = {field.name: field.value() for field in page.context["adminform"].form}
    assert change(operator, row, **{**rows, **shown, name: other}).status_code == 303
    assert [getattr(one, name) for one in model._default_manager.all()] == [before]


def added(operator: Client, model: type[Model]) -> str:
    """Return the page on which one is added."""
    return operator.get(reverse(f"admin:integrations_{model._meta.model_name}_add")).content.decode()


def test_a_page_for_a_new_row_speaks_of_nothing_stored(operator: Client) -> None:
    provider, program = added(operator, CIProvider), added(operator, EvolutionProgram)
    assert "Stored encrypted and never shown." in provider
    assert not re.search("keep (the|what is) stored|New secret", provider)
    assert "null</textarea>" not in program
    assert "Execution configuration" not in added(operator, Project)
    change_page = operator.get(reverse("admin:integrations_ciprovider_change", args=[CIProvider.objects.get().pk]))
    assert "Leave blank to keep the stored secret." in change_page.content.decode()


def test_a_programs_results_have_a_kind_that_artifacts_may_have(operator: Client) -> None:
    program = EvolutionProgram.objects.get()
    sent = {"command": '["true"]', "timeout_seconds": "30", "memory_mb": "256"}
    refused = change(operator, program, **sent, result_kind="a b")
    assert list(refused.context["adminform"].form.errors) == ["result_kind"]
    assert change(operator, program, **sent, result_kind="prompt-2").status_code == 303
    assert EvolutionProgram.objects.get().result_kind == "prompt-2"


def test_programs_are_deleted_with_a_trace(operator: Client) -> None:
    program = EvolutionProgram.objects.get()
    answer = operator.post(reverse("admin:integrations_evolutionprogram_delete", args=[program.pk]), {"post": "yes"})
    assert answer.status_code == 303
    assert not EvolutionProgram.objects.exists()
    assert LogEntry.objects.filter(object_id=program.pk).exists()


def test_an_artifact_is_deleted_with_its_evidence_unless_something_needs_it(operator: Client) -> None:
    EvolutionJob.objects.all().delete()
    EvolutionRevision.objects.all().delete()
    artifact = EvolutionArtifact.objects.get()
    path, sure = reverse("admin:integrations_evolutionartifact_delete", args=[artifact.pk]), {"post": "yes"}
    owner = {"owner_kind": artifact.owner_kind, "owner_key": artifact.owner_key}
    revision = EvolutionRevision.objects.create(**owner, revision=1, artifact=artifact, activated_at=timezone.now())
    assert operator.post(path, sure).context["protected"]
    assert EvolutionArtifact.objects.exists()
    revision.delete()
    awaited = {"requested_by": artifact.owner_key, "artifact_ids": [artifact.pk], "created_at": timezone.now()}
    job = EvolutionJob.objects.create(id="job_1", **owner, **awaited, program="refine", inputs="{}")
    assert operator.post(path, sure).status_code == 403
    assert EvolutionArtifact.objects.exists()
    EvolutionJob.objects.filter(pk=job.pk).update(status="cancelled")
    assert EvolutionEvidence.objects.filter(artifact=artifact).exists()
    assert operator.post(path, sure).status_code == 303
    assert not EvolutionArtifact.objects.exists()
    assert not EvolutionEvidence.objects.exists()
    assert LogEntry.objects.filter(object_id=artifact.pk).exists()


def test_a_programs_arguments_keep_their_lines(operator: Client) -> None:
    program = EvolutionProgram.objects.get()
    program.command = ["python3", "-c", "import sys\n\nprint(  1)"]
    program.save()
    page = operator.get(reverse("admin:integrations_evolutionprogram_change", args=[program.pk]))
    form = page.context["adminform"].form
    shown = {name: form[name].value() for name in form.fields}
    path = reverse("admin:integrations_evolutionprogram_change", args=[program.pk])
    sent = {name: "" if value is None else value for name, value in shown.items()}
    assert operator.post(path, sent).status_code == 303
    assert EvolutionProgram.objects.get().command == program.command
    for bad in ("{}", "[]", "[1]", '[""]', "python3", "["):
        refused = operator.post(path, {**sent, "command": bad})
        assert list(refused.context["adminform"].form.errors) == ["command"]
    assert EvolutionProgram.objects.get().command == program.command
