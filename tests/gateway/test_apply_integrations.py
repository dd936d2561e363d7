"""The sections projects, sandbox, ci, evolution and account_key_sync of the configuration file."""

from pathlib import Path

import pytest

from integrations.models import CIProvider, EvolutionProgram, IntegrationSwitch, Project, SandboxSettings
from tests.factories.organizations import Team
from tests.gateway.config_files import apply_text

pytestmark = pytest.mark.django_db

WHOLE = """\
products:
  - {slug: studio, name: Studio}
projects:
  - {key: docs, owner: "did:web:studio.example:alice", product: studio, name: Docs}
sandbox: {runner: bubblewrap, max_timeout_seconds: 60, max_memory_mb: 512, network: none}
ci:
  providers:
    - {name: forge, format: workflow_run, secret: {env: FORGE_WEBHOOK_SECRET}, repositories: {"acme/docs": docs}}
    - {name: generic, format: generic, secret: literal-webhook-secret, repositories: {"docs": docs}}
evolution:
  programs:
    - {name: refine, command: [python3, -c, "print(1)"], timeout_seconds: 30, memory_mb: 256, result_kind: prompt}
account_key_sync: {enabled: true}
"""


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_WEBHOOK_SECRET", "forge-webhook-secret")


def test_every_section_sets_its_rows(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    docs = Project.objects.get()
    assert (docs.id[:4], docs.key, docs.owner_kind, docs.name) == ("prj_", "docs", "account", "Docs")
    assert docs.owner_key == "did:web:studio.example:alice"
    assert SandboxSettings.objects.get().runner == "bubblewrap"
    forge, generic = CIProvider.objects.order_by("name")
    assert (forge.format, forge.secret, generic.secret) == (
        "workflow_run",
        "forge-webhook-secret",
        "literal-webhook-secret",
    )
    assert [(one.name, one.project_id) for one in forge.repositories.all()] == [("acme/docs", docs.id)]
    refine = EvolutionProgram.objects.get()
    assert (refine.name, refine.command, refine.result_kind) == ("refine", ["python3", "-c", "print(1)"], "prompt")
    switches = IntegrationSwitch.objects.order_by("name").values_list("name", "enabled")
    assert list(switches) == [("account_key_sync", True), ("evolution", True)]
    assert (
        "new-webhook-secret"
        not in apply_text(tmp_path, WHOLE.replace("literal-webhook-secret", "new-webhook-secret")).out
    )
    assert Project.objects.get().id == docs.id


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    assert apply_text(tmp_path, WHOLE).summary == "gateway.yaml applied: 10 unchanged."


def test_a_secret_and_the_one_before_it(tmp_path: Path) -> None:
    both = "secret: newer-webhook-secret, previous_secret: literal-webhook-secret"
    printed = apply_text(tmp_path, WHOLE.replace("secret: literal-webhook-secret", both)).out
    assert CIProvider.objects.get(name="generic").secrets == ["newer-webhook-secret", "literal-webhook-secret"]
    printed += apply_text(tmp_path, WHOLE.replace("secret: literal-webhook-secret", "secret: newer-webhook-secret")).out
    assert CIProvider.objects.get(name="generic").secrets == ["newer-webhook-secret"]
    assert not {word for word in ("newer-webhook-secret", "literal-webhook-secret") if word in printed}


def test_a_secret_of_a_provider_that_the_file_does_not_name_is_refused(tmp_path: Path) -> None:
    CIProvider.objects.create(
        name="other", format="generic", secret="the-others-secret", previous_secret="literal-webhook-secret"
    )
    refused = apply_text(tmp_path, WHOLE)
    assert any("ci.providers[1].secret" in problem for problem in refused.problems), refused
    assert "literal-webhook-secret" not in str(refused.problems)
    assert CIProvider.objects.count() == 1


def test_repositories_are_a_set(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    apply_text(tmp_path, WHOLE.replace('"acme/docs": docs', '"acme/site": docs'))
    assert [one.name for one in CIProvider.objects.get(name="forge").repositories.all()] == ["acme/site"]


def test_an_organizations_project(tmp_path: Path) -> None:
    team = Team()
    apply_text(tmp_path, WHOLE.replace("did:web:studio.example:alice", team.id))
    assert Project.objects.values_list("owner_kind", "owner_key").get() == ("organization", team.id)


REFUSED = [
    ("did:web:studio.example:alice", "alice", "projects[0].owner"),
    ("did:web:studio.example:alice", "org_unknown", "projects[0].owner"),
    ("product: studio, name: Docs", "product: other, name: Docs", "projects[0].product"),
    ("{key: docs,", "{key: Docs!,", "projects[0].key"),
    ("runner: bubblewrap", "runner: docker", "sandbox.runner"),
    ("runner: bubblewrap", "runner: http", "sandbox"),
    ("max_memory_mb: 512", "max_memory_mb: 1", "sandbox.max_memory_mb"),
    ("network: none", "network: all", "sandbox.network"),
    ("format: generic", "format: jenkins", "ci.providers[1].format"),
    ("{name: generic", "{name: forge", "ci.providers"),
    ("secret: literal-webhook-secret, ", "", "ci.providers[1].secret"),
    ("literal-webhook-secret", "seven77", "ci.providers[1].secret"),
    ("literal-webhook-secret", "literal-webhook-secret, previous_secret: x", "ci.providers[1].previous_secret"),
    ("literal-webhook-secret", "forge-webhook-secret", "ci.providers"),
    ("literal-webhook-secret", "another-secret-now, previous_secret: forge-webhook-secret", "ci.providers"),
    ('"docs": docs', '"docs": unknown', "ci.providers[1].repositories.docs"),
    ("{name: refine, command", "{name: Refine!, command", "evolution.programs[0].name"),
    ('command: [python3, -c, "print(1)"]', "command: []", "evolution.programs[0].command"),
    ('command: [python3, -c, "print(1)"]', 'command: [""]', "evolution.programs[0].command"),
    ("timeout_seconds: 30", "timeout_seconds: 0", "evolution.programs[0].timeout_seconds"),
    ("result_kind: prompt", "result_kind: a b", "evolution.programs[0].result_kind"),
    ("enabled: true", "enabled: maybe", "account_key_sync.enabled"),
    ("account_key_sync: {enabled: true}", "account_key_sync: {enable: true}", "account_key_sync.enable"),
]


@pytest.mark.parametrize(("found", "replacement", "place"), REFUSED)
def test_what_is_wrong_is_named_and_nothing_is_set(tmp_path: Path, found: str, replacement: str, place: str) -> None:
    assert found in WHOLE
    refused = apply_text(tmp_path, WHOLE.replace(found, replacement))
    assert any(place in problem for problem in refused.problems), refused
    assert not Project.objects.exists()
