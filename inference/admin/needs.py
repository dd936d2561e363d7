"""What of the models and upstreams needs a person, and what a new gateway lacks."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from gateway.core.console import needs
from gateway.core.console.needs import Need
from inference.queries.journal_folders import UNREAD_AFTER, WAITING_AFTER

LINES_MAX = 10

# A deployment that was removed or disabled, or whose upstream was, is nobody's concern.
_FAILING = f"""
SELECT count(*) OVER (), t.since, 'Upstream ' || u.name || ' fails for ' || coalesce(a.name, r.model),
       t.cause || ' (' || t.failures || CASE t.failures WHEN 1 THEN ' attempt' ELSE ' attempts in a row' END
         || CASE WHEN t.aside_until > %(now)s THEN ', its breaker is open)' ELSE ')' END, u.id::text
  FROM inference_deployment_trouble t
  LEFT JOIN inference_deployment d ON d.id::text = t.deployment AND d.enabled
  LEFT JOIN inference_alias a ON a.id = d.alias_id AND a.enabled
  LEFT JOIN inference_rawmodel r ON 'raw:' || r.id = t.deployment AND r.enabled
  JOIN inference_upstream u ON u.id = coalesce(d.upstream_id, r.upstream_id) AND u.enabled
 WHERE coalesce(a.name, r.model) IS NOT NULL
 ORDER BY t.since, t.deployment LIMIT {LINES_MAX}
"""  # noqa: S608 - a number
_NAMES = "string_agg(m.name, ', ' ORDER BY m.name) FILTER (WHERE m.place <= 5)"
_MODELS = """
SELECT name, row_number() OVER (ORDER BY name) AS place FROM (
  SELECT a.name FROM inference_alias a WHERE a.enabled AND {condition_of_alias}
  UNION ALL
  SELECT r.model FROM inference_rawmodel r WHERE r.enabled AND {condition_of_raw}
) each
"""
_UNPRICED = "NOT EXISTS (SELECT FROM billing_price_version p WHERE p.alias = {name} AND p.effective_at <= %(now)s)"
_WITHOUT_PRICE = f"""
SELECT count(*), NULL::timestamptz, '', {_NAMES}, '' FROM ({
    _MODELS.format(
        condition_of_alias=_UNPRICED.format(name="a.name"), condition_of_raw=_UNPRICED.format(name="r.model")
    )
}) m
"""  # noqa: S608 - no input
_UNSERVED = """NOT EXISTS (SELECT FROM inference_deployment d JOIN inference_upstream u ON u.id = d.upstream_id AND u.enabled
                            WHERE d.alias_id = a.id AND d.enabled)"""
_WITHOUT_DEPLOYMENT = f"""
SELECT count(*), NULL::timestamptz, '', {_NAMES}, '' FROM ({
    _MODELS.format(
        condition_of_alias=_UNSERVED,
        condition_of_raw="NOT EXISTS (SELECT FROM inference_upstream u WHERE u.id = r.upstream_id AND u.enabled)",
    )
}) m
"""  # noqa: S608 - no input
_PROPOSALS = "SELECT count(*), min(created_at), '', '', '' FROM inference_price_proposal WHERE state = 'waiting'"
# Of a key from before keys had a date, nobody knows the age.
_OLD_KEYS = f"""
SELECT count(*) OVER (), api_key_set_at, name, 'replace it with a new one', id::text FROM inference_upstream
 WHERE enabled AND api_key <> '' AND api_key_set_at < %(inference_keys_since)s
 ORDER BY api_key_set_at, id LIMIT {LINES_MAX}
"""  # noqa: S608 - a number
# By the database's clock, as the folders are reported.
_JOURNALS = f"""
SELECT count(*) OVER (), CASE WHEN read_at < {{unread}} THEN read_at ELSE waiting_since END,
       'Journals on ' || host || CASE WHEN read_at < {{unread}} THEN ' are read by nobody' ELSE ' cannot be closed' END,
       path || ', ' || files || CASE files WHEN 1 THEN ' file' ELSE ' files' END, id::text
  FROM inference_journal_folder
 WHERE (files > 0 AND read_at < {{unread}}) OR (waiting_since < {{waiting}} AND read_at >= {{unread}})
 ORDER BY read_at, id LIMIT {LINES_MAX}
""".format(  # noqa: S608 - numbers
    unread=f"now() - interval '{UNREAD_AFTER.total_seconds():.0f} seconds'",
    waiting=f"now() - interval '{WAITING_AFTER.total_seconds():.0f} seconds'",
)
_NO_UPSTREAM = "SELECT 1, NULL::timestamptz, '', '', '' WHERE NOT EXISTS (SELECT FROM inference_upstream)"
_NO_MODEL = """
SELECT 1, NULL::timestamptz, '', '', ''
 WHERE NOT EXISTS (SELECT FROM inference_alias) AND NOT EXISTS (SELECT FROM inference_rawmodel)
"""
_NO_PRICE = "SELECT 1, NULL::timestamptz, '', '', '' WHERE NOT EXISTS (SELECT FROM billing_price_version)"


def _keys_since(now: datetime) -> dict[str, Any]:
    return {"inference_keys_since": now - timedelta(days=settings.UPSTREAM_KEY_DAYS)}


needs.register(
    Need(
        key="inference.failing",
        right="inference.view_upstream",
        one="",
        many="",
        page="inference_upstream_changelist",
        row_page="inference_upstream_change",
        sql=_FAILING,
        is_urgent=True,
    ),
    Need(
        key="inference.journals",
        right="inference.view_journalfolder",
        one="",
        many="",
        page="inference_journalfolder_changelist",
        row_page="inference_journalfolder_change",
        sql=_JOURNALS,
        is_urgent=True,
    ),
    Need(
        key="inference.without_price",
        right="billing.view_priceversion",
        one="model has no price, so it cannot be called",
        many="models have no price, so they cannot be called",
        page="billing_priceversion_changelist",
        sql=_WITHOUT_PRICE,
    ),
    Need(
        key="inference.without_deployment",
        right="inference.view_alias",
        one="model has no deployment, so it cannot be called",
        many="models have no deployment, so they cannot be called",
        page="inference_alias_changelist",
        sql=_WITHOUT_DEPLOYMENT,
    ),
    Need(
        key="inference.proposals",
        right="inference.view_priceproposal",
        one="proposed price waits for a decision",
        many="proposed prices wait for a decision",
        page="inference_priceproposal_changelist",
        query="?state__exact=waiting",
        sql=_PROPOSALS,
    ),
    Need(
        key="inference.old_keys",
        right="inference.view_upstream",
        one="Old upstream key",
        many="Old upstream keys",
        page="inference_upstream_changelist",
        row_page="inference_upstream_change",
        sql=_OLD_KEYS,
        parameters=_keys_since,
        badge="inference.failing",
    ),
    Need(
        key="inference.no_upstream",
        right="inference.add_upstream",
        one="Add an upstream: a provider of models, with its key",
        many="",
        page="inference_upstream_add",
        sql=_NO_UPSTREAM,
        is_setup=True,
    ),
    Need(
        key="inference.no_model",
        right="inference.add_alias",
        one="Add a model: the name that apps call, and the upstream's model that serves it",
        many="",
        page="inference_alias_add",
        sql=_NO_MODEL,
        is_setup=True,
    ),
    Need(
        key="inference.no_price",
        right="billing.add_priceversion",
        one="Add a price: until it has one, a model cannot be called",
        many="",
        page="billing_priceversion_add",
        sql=_NO_PRICE,
        is_setup=True,
    ),
)
