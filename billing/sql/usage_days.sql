-- billing_roll_up_usage(p_ends_at timestamptz, p_span interval) RETURNS TABLE (ends_at timestamptz, calls bigint)
--
-- Adds the settled calls that closed since the last run to the daily totals, the margins and the active accounts, at most
-- p_span of them and none that closed at p_ends_at or later, and moves the horizon: all or nothing, so that an interrupted run has no
-- effect and each call counts once. Returns the new horizon and the number of calls added; no row if everything before
-- p_ends_at was already added. Of two concurrent runs the second waits and continues after the first. The caller ensures
-- that no row dated before p_ends_at can still commit.
CREATE OR REPLACE FUNCTION billing_roll_up_usage(p_ends_at timestamptz, p_span interval)
RETURNS TABLE (ends_at timestamptz, calls bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_begins timestamptz;
  v_ends timestamptz;
  v_calls bigint;
  v_margins_begin timestamptz;
  v_apps_begin timestamptz;
BEGIN
  IF (p_span > interval '0') IS NOT TRUE THEN  -- the horizon would move back, and calls would count twice
    RAISE EXCEPTION 'a span of %', p_span USING ERRCODE = 'check_violation';
  END IF;
  INSERT INTO billing_usage_horizon (id, ends_at, calls) VALUES (1, '2000-01-01 00:00:00+00', 0)  -- before any call
  ON CONFLICT (id) DO NOTHING;
  SELECT h.ends_at, h.margins_begin_at, h.apps_begin_at INTO v_begins, v_margins_begin, v_apps_begin
    FROM billing_usage_horizon h WHERE h.id = 1 FOR NO KEY UPDATE;
  IF v_begins >= p_ends_at THEN
    RETURN;
  END IF;
  IF v_begins = '2000-01-01 00:00:00+00' THEN
    SELECT coalesce(min(r.closed_at), p_ends_at) INTO v_begins FROM billing_reservation r;
    v_margins_begin := v_begins;
    v_apps_begin := v_begins;
    DELETE FROM billing_margin_day;  -- a process of the version before resets the horizon without them
    UPDATE billing_model_margin m SET margins_microusd = '{}';
    DELETE FROM billing_active_day;
    DELETE FROM billing_active_account;
  END IF;
  v_ends := least(p_ends_at, v_begins + p_span);

  WITH served AS MATERIALIZED (
    SELECT r.wallet_id, r.product, r.membership_id, r.actor_did, r.model, r.client_id,
           (r.closed_at AT TIME ZONE 'UTC')::date AS closed_on, (r.created_at AT TIME ZONE 'UTC')::date AS begun_on,
           r.deployment, count(*) AS calls, coalesce(sum(u.input_tokens), 0) AS input_tokens,
           coalesce(sum(u.output_tokens), 0) AS output_tokens, coalesce(sum(t.charges), 0) AS charges,
           coalesce(sum(t.charged_microusd), 0) AS charged_microusd, coalesce(sum(u.cost_microusd), 0) AS cost_microusd,
           count(*) - count(u.cost_microusd) AS uncosted_calls,
           coalesce(sum(t.charged_microusd) FILTER (WHERE u.cost_microusd IS NULL), 0) AS uncosted_charged_microusd
      FROM billing_reservation r
      LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
      LEFT JOIN LATERAL (
        SELECT count(*) AS charges, sum(c.amount_microusd) AS charged_microusd
          FROM billing_transfer c WHERE c.source = r.id AND c.kind = 'charge') t ON true
     WHERE r.closed_at >= v_begins AND r.closed_at < v_ends AND r.state = 'settled'
     GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
  ), sums AS MATERIALIZED (
    SELECT wallet_id, product, membership_id, actor_did, model, client_id, closed_on, begun_on, sum(calls) AS calls,
           sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(charges) AS charges,
           sum(charged_microusd) AS charged_microusd
      FROM served GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ), margins AS (
    INSERT INTO billing_margin_day AS d (
      closed_on, model, product, deployment, calls, charged_microusd, cost_microusd, uncosted_calls,
      uncosted_charged_microusd)
    SELECT closed_on, model, product, deployment, sum(calls), sum(charged_microusd), sum(cost_microusd),
           sum(uncosted_calls), sum(uncosted_charged_microusd)
      FROM served GROUP BY 1, 2, 3, 4
    ON CONFLICT (closed_on, model, product, deployment) DO UPDATE
      SET calls = d.calls + EXCLUDED.calls, charged_microusd = d.charged_microusd + EXCLUDED.charged_microusd,
          cost_microusd = d.cost_microusd + EXCLUDED.cost_microusd,
          uncosted_calls = d.uncosted_calls + EXCLUDED.uncosted_calls,
          uncosted_charged_microusd = d.uncosted_charged_microusd + EXCLUDED.uncosted_charged_microusd
  ), last AS (
    SELECT c.model, array_agg(c.margin ORDER BY c.closed_at, c.id) AS margins_microusd
      FROM (SELECT r.model, r.closed_at, r.id, u.charge_microusd - u.cost_microusd AS margin,
                   row_number() OVER (PARTITION BY r.model ORDER BY r.closed_at DESC, r.id DESC) AS place
              FROM billing_reservation r JOIN billing_usage_record u ON u.reservation_id = r.id
             WHERE r.closed_at >= v_begins AND r.closed_at < v_ends AND r.state = 'settled'
               AND u.cost_microusd IS NOT NULL) c
     WHERE c.place <= 1000 GROUP BY c.model
  ), model_margins AS (
    INSERT INTO billing_model_margin AS m (model, margins_microusd)
    SELECT l.model, l.margins_microusd FROM last l
    ON CONFLICT (model) DO UPDATE
      SET margins_microusd = (m.margins_microusd || EXCLUDED.margins_microusd)
            [greatest(cardinality(m.margins_microusd) + cardinality(EXCLUDED.margins_microusd) - 999, 1):]
  ), known AS (
    SELECT s.* FROM billing_usage_subject s WHERE s.wallet_id IN (SELECT wallet_id FROM sums)
  ), added AS (
    INSERT INTO billing_usage_subject (wallet_id, product, membership_id, actor_did, model, client_id)
    SELECT wallet_id, product, membership_id, actor_did, model, client_id FROM sums
    EXCEPT SELECT wallet_id, product, membership_id, actor_did, model, client_id FROM known
    RETURNING *
  ), days AS (
    INSERT INTO billing_usage_day AS d (
      subject_id, closed_on, begun_on, calls, input_tokens, output_tokens, charges, charged_microusd)
    SELECT s.id, n.closed_on, n.begun_on, n.calls, n.input_tokens, n.output_tokens, n.charges, n.charged_microusd
      FROM sums n
      JOIN (SELECT * FROM known UNION ALL SELECT * FROM added) s
        ON s.wallet_id = n.wallet_id AND s.actor_did = n.actor_did AND s.model = n.model
       AND s.product IS NOT DISTINCT FROM n.product AND s.membership_id IS NOT DISTINCT FROM n.membership_id
       AND s.client_id IS NOT DISTINCT FROM n.client_id
     ORDER BY n.wallet_id, s.id  -- rows that are read together are stored together
    ON CONFLICT (subject_id, closed_on, begun_on) DO UPDATE
      SET calls = d.calls + EXCLUDED.calls, input_tokens = d.input_tokens + EXCLUDED.input_tokens,
          output_tokens = d.output_tokens + EXCLUDED.output_tokens, charges = d.charges + EXCLUDED.charges,
          charged_microusd = d.charged_microusd + EXCLUDED.charged_microusd
  )
  SELECT coalesce(sum(n.calls), 0) INTO v_calls FROM sums n;

  PERFORM billing_roll_up_active(v_begins, v_ends);

  UPDATE billing_usage_horizon h SET ends_at = v_ends, calls = h.calls + v_calls, moved_at = clock_timestamp(),
         margins_begin_at = coalesce(v_margins_begin, v_begins), apps_begin_at = coalesce(v_apps_begin, v_begins)
   WHERE h.id = 1;
  ends_at := v_ends;
  calls := v_calls;
  RETURN NEXT;
END $$;
