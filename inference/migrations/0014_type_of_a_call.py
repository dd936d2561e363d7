"""A type for the calls of a batch, so that `inference_open_calls` reads their JSON once."""

from django.db import migrations

CREATE = """
CREATE TYPE inference_call AS (
  proof text, proof_issued_at double precision, proof_expires_at double precision, did text, session_id text,
  is_admitted boolean, owner_kind text, owner_key text, stop_before text, usage_id text, product text, client_id text,
  route text, model text, request_id text, key text, digest text, hold bigint, max_cost bigint, price_version bigint,
  deadline_seconds double precision, is_trial boolean)
"""
# With the functions that take it: the version before installs its own.
DROP = "DROP TYPE inference_call CASCADE"


class Migration(migrations.Migration):
    dependencies = [("inference", "0013_representations")]

    operations = [migrations.RunSQL(CREATE, DROP)]
