-- The margins equal the settled calls that closed from the first that they include to their horizon: by day what the calls
-- earned and cost, and by model the margins of its last calls. Like the daily totals, only the complete audit recomputes
-- them.
WITH horizon AS MATERIALIZED (
  SELECT h.margins_begin_at, h.ends_at FROM billing_usage_horizon h WHERE %(since)s::timestamptz = '-infinity'
), charge AS (
  SELECT t.source, sum(t.amount_microusd) AS charged_microusd
    FROM billing_transfer t WHERE t.kind = 'charge' GROUP BY t.source
), call AS MATERIALIZED (
  SELECT r.id, r.model, r.product, r.deployment, r.closed_at, r.charge_microusd, u.cost_microusd,
         coalesce(t.charged_microusd, 0) AS charged_microusd
    FROM billing_reservation r
    LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
    LEFT JOIN charge t ON t.source = r.id
   WHERE r.state = 'settled' AND r.closed_at >= (SELECT margins_begin_at FROM horizon)
     AND r.closed_at < (SELECT ends_at FROM horizon)
), expected AS MATERIALIZED (
  SELECT (c.closed_at AT TIME ZONE 'UTC')::date AS closed_on, c.model, c.product, c.deployment, count(*) AS calls,
         sum(c.charged_microusd) AS charged_microusd, coalesce(sum(c.cost_microusd), 0) AS cost_microusd,
         count(*) - count(c.cost_microusd) AS uncosted_calls,
         coalesce(sum(c.charged_microusd) FILTER (WHERE c.cost_microusd IS NULL), 0) AS uncosted_charged_microusd
    FROM call c GROUP BY 1, 2, 3, 4
), found AS (
  SELECT d.closed_on, d.model, d.product, d.deployment, d.calls, d.charged_microusd, d.cost_microusd, d.uncosted_calls,
         d.uncosted_charged_microusd
    FROM billing_margin_day d WHERE EXISTS (SELECT FROM horizon)
), other AS (
  (SELECT 'there should be' AS said, e.* FROM (SELECT * FROM expected EXCEPT ALL SELECT * FROM found) e)
  UNION ALL
  (SELECT 'there are', f.* FROM (SELECT * FROM found EXCEPT ALL SELECT * FROM expected) f)
), last AS (
  SELECT c.model, array_agg(c.charge_microusd - c.cost_microusd ORDER BY c.closed_at, c.id) AS margins_microusd
    FROM (SELECT c.*, row_number() OVER (PARTITION BY c.model ORDER BY c.closed_at DESC, c.id DESC) AS place
            FROM call c WHERE c.cost_microusd IS NOT NULL) c
   WHERE c.place <= 1000 GROUP BY c.model
), kept AS (
  SELECT m.model, m.margins_microusd FROM billing_model_margin m
   WHERE m.margins_microusd <> '{}' AND EXISTS (SELECT FROM horizon)
)
SELECT o.model, format('closed on %s, product %s, deployment %s: %s %s calls, charges of %s, cost of %s, %s without a cost, charges of %s',
                       o.closed_on, o.product, o.deployment, o.said, o.calls, o.charged_microusd, o.cost_microusd,
                       o.uncosted_calls, o.uncosted_charged_microusd)
  FROM other o
UNION ALL
SELECT coalesce(l.model, k.model), 'the margins of the last calls are others'
  FROM last l FULL JOIN kept k ON k.model = l.model
 WHERE l.margins_microusd IS DISTINCT FROM k.margins_microusd
