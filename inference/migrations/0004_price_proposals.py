"""Adds proposed prices. Processes of the version before do not know the table."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("inference", "0003_body_hashes")]

    operations = [
        migrations.CreateModel(
            name="PriceProposal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("alias", KeyField()),
                ("deployment", KeyField(db_default="", default="")),
                ("version_id", models.BigIntegerField(null=True)),
                ("components_now", models.JSONField(default=dict)),
                ("components", models.JSONField()),
                ("source", models.TextField()),
                ("markup_percent", models.TextField(db_default="0", default="0")),
                ("deployments", models.JSONField(default=list)),
                ("rounded", models.JSONField(default=list)),
                ("notes", models.JSONField(default=list)),
                ("is_beyond_bounds", models.BooleanField(verbose_name="Beyond the bounds")),
                (
                    "state",
                    KeyField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("accepted", "Accepted"),
                            ("dismissed", "Dismissed"),
                            ("replaced", "Replaced"),
                        ],
                        db_default="waiting",
                        default="waiting",
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.TextField(db_default="", default="")),
                ("published_version_id", models.BigIntegerField(null=True)),
            ],
            options={
                "db_table": "inference_price_proposal",
                "verbose_name": "proposed price",
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(state="waiting"), fields=("alias", "deployment"), name="price_proposal_one_waiting"
                    ),
                    models.CheckConstraint(
                        condition=Q(state="waiting", decided_at=None)
                        | Q(decided_at__isnull=False, state__in=["accepted", "dismissed", "replaced"]),
                        name="price_proposal_decided",
                    ),
                    models.CheckConstraint(
                        condition=Q(state="accepted") | Q(published_version_id=None),
                        name="price_proposal_published_if_accepted",
                    ),
                ],
            },
        ),
    ]
