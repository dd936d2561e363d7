-- The daily totals equal the settled calls that closed before their horizon, and the ledger's charges for them. They are
-- derived from calls that are checked themselves, so only the complete audit recomputes them. Calls that closed before
-- `apps_begin_at` are added up without their app.
WITH horizon AS MATERIALIZED (
  SELECT h.ends_at, h.calls, coalesce(h.apps_begin_at, 'infinity') AS apps_begin_at FROM billing_usage_horizon h WHERE %(since)s::timestamptz = '-infinity'
), charge AS (
  SELECT t.source, count(*) AS charges, sum(t.amount_microusd) AS charged_microusd
    FROM billing_transfer t WHERE t.kind = 'charge' GROUP BY t.source
), expected AS MATERIALIZED (
  SELECT r.wallet_id, r.product, r.membership_id, r.actor_did, r.model,
         CASE WHEN r.closed_at >= (SELECT apps_begin_at FROM horizon) THEN r.client_id END AS client_id, (r.closed_at AT TIME ZONE 'UTC')::date AS closed_on,
         (r.created_at AT TIME ZONE 'UTC')::date AS begun_on, count(*) AS calls,
         coalesce(sum(u.input_tokens), 0) AS input_tokens, coalesce(sum(u.output_tokens), 0) AS output_tokens,
         coalesce(sum(t.charges), 0) AS charges, coalesce(sum(t.charged_microusd), 0) AS charged_microusd
    FROM billing_reservation r
    LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
    LEFT JOIN charge t ON t.source = r.id
   WHERE r.state = 'settled' AND r.closed_at < (SELECT ends_at FROM horizon)
   GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
), found AS (
  SELECT s.wallet_id, s.product, s.membership_id, s.actor_did, s.model, s.client_id, d.closed_on, d.begun_on, d.calls,
         d.input_tokens, d.output_tokens, d.charges, d.charged_microusd
    FROM billing_usage_day d JOIN billing_usage_subject s ON s.id = d.subject_id
   WHERE EXISTS (SELECT FROM horizon)
), other AS (
  (SELECT 'there should be' AS said, e.* FROM (SELECT * FROM expected EXCEPT ALL SELECT * FROM found) e)
  UNION ALL
  (SELECT 'there are', f.* FROM (SELECT * FROM found EXCEPT ALL SELECT * FROM expected) f)
)
SELECT o.wallet_id, format('begun on %s, closed on %s, product %s, member %s, model %s, app %s: %s %s calls, %s and %s tokens, %s charges of %s',
                           o.begun_on, o.closed_on, o.product, o.membership_id, o.model, o.client_id, o.said, o.calls, o.input_tokens,
                           o.output_tokens, o.charges, o.charged_microusd)
  FROM other o
UNION ALL
SELECT 'horizon', format('%s calls until %s, %s in the ledger', h.calls, h.ends_at, e.calls)
  FROM horizon h, (SELECT coalesce(sum(calls), 0) AS calls FROM expected) e
 WHERE h.calls <> e.calls
