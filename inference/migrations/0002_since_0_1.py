"""Adds stored responses, what upstreams' answers told of their representations, and the type of a batch's calls.

An upstream gets its alarms, the times of its connections, and an upper bound of its timeout. Defaults rest in the database:
the version before inserts rows too.
"""

from django.db import migrations, models
from django.db.models import Q

from billing.models.fields import KeyField
from gateway.core.database.migrations import RestartableMigration
from gateway.core.encryption.bound_text import BoundTextField

BOUND_TO = ["id", "owner_kind", "owner_key"]

CREATE = """
CREATE TYPE inference_call AS (
  proof text, proof_issued_at double precision, proof_expires_at double precision, did text, session_id text,
  is_admitted boolean, owner_kind text, owner_key text, stop_before text, usage_id text, product text, client_id text,
  route text, model text, request_id text, key text, digest text, hold bigint, max_cost bigint, price_version bigint,
  deadline_seconds double precision, is_trial boolean)
"""
# With the functions that take it: the version before installs its own.
DROP = "DROP TYPE inference_call CASCADE"
LOWER = "UPDATE inference_upstream SET timeout_seconds = 3600 WHERE timeout_seconds > 3600"


class Migration(RestartableMigration):
    replaces = [
        ("inference", "0007_open_alone"),
        ("inference", "0008_timeouts_in_range"),
        ("inference", "0009_alarms"),
        ("inference", "0010_fetches_images"),
        ("inference", "0011_stored_responses"),
        ("inference", "0012_help_texts"),
        ("inference", "0013_representations"),
        ("inference", "0014_type_of_a_call"),
        ("inference", "0015_bind_stored_responses"),
        ("inference", "0016_console_texts"),
        ("inference", "0017_out_of_turn"),
        ("inference", "0018_adapter_labels"),
    ]
    dependencies = [("inference", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="StoredResponse",
            fields=[
                ("id", KeyField(primary_key=True, serialize=False)),
                ("owner_kind", KeyField()),
                ("owner_key", KeyField()),
                ("usage_id", KeyField()),
                ("status", KeyField()),
                ("response", BoundTextField(bound_to=BOUND_TO)),
                ("input_items", BoundTextField(bound_to=BOUND_TO)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "db_table": "inference_stored_response",
                "indexes": [models.Index(fields=["expires_at"], name="stored_response_expiry")],
            },
        ),
        migrations.CreateModel(
            name="Representation",
            fields=[
                ("configuration", KeyField(primary_key=True, serialize=False)),
                ("revision", KeyField()),
                ("dimensions", models.PositiveIntegerField()),
                ("normalized", models.BooleanField()),
                ("answered_at", models.DateTimeField()),
            ],
            options={"db_table": "inference_representation"},
        ),
        migrations.RunSQL(CREATE, DROP),
        migrations.AddField(
            "upstream",
            "alarms",
            models.BigIntegerField(
                db_default=0,
                default=0,
                editable=False,
                help_text="How often the upstream returned an error that only an operator can fix.",
            ),
        ),
        migrations.AddField("upstream", "last_alarm", models.TextField(db_default="", default="", editable=False)),
        migrations.AddField("upstream", "last_alarm_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField(
            "upstream",
            "fetches_images",
            models.BooleanField(
                db_default=False,
                default=False,
                help_text="Send https URLs of images to the upstream instead of fetching and checking the images in the gateway. Only for an upstream that cannot reach your private networks.",
            ),
        ),
        migrations.AddField("upstream", "out_of_turn_at", models.DateTimeField(null=True, editable=False)),
        migrations.AddField("upstream", "connections_trusted_at", models.DateTimeField(null=True, editable=False)),
        migrations.RunSQL(LOWER, migrations.RunSQL.noop, elidable=True),
        migrations.RemoveConstraint("upstream", "upstream_timeout_positive"),
        migrations.AddConstraint(
            "upstream",
            models.CheckConstraint(
                condition=Q(timeout_seconds__gt=0, timeout_seconds__lte=3600), name="upstream_timeout_in_range"
            ),
        ),
    ]
