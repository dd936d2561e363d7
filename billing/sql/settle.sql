-- billing_settle(p_usage_id text, p_cost bigint, p_basis text, p_quantities jsonb,
--                p_replay_status integer DEFAULT NULL, p_replay_headers jsonb DEFAULT NULL,
--                p_replay_body bytea DEFAULT NULL, p_deployment text DEFAULT NULL, p_resolution text DEFAULT NULL,
--                p_expected text[] DEFAULT '{dispatched,review}',
--                p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, charge_microusd bigint, hold_microusd bigint, overrun_microusd bigint)
--
-- Charges a call, once: charge = least(p_cost, hold); the part of p_cost beyond the hold is booked as the operator's
-- loss. In one transaction: dispatched | review → settled; credits are spent in the order of the hold, then balance;
-- the rest of the hold is released; transfers, budgets, usage record and stored replay are written. Outcomes:
--   'settled'      done now
--   'already'      settled before; the amounts are the stored ones, nothing changed
--   'released'     released before: nothing is charged
--   'conflict'     in a state that is not in p_expected
--   'unknown'      there is no such call
-- p_basis: 'upstream' | 'delivered' | 'operator'. p_quantities: billing_usage_record's quantity columns, absent = not
-- metered, the service_tier and price_band of its price, absent = those of the base, and the cost columns, absent = not
-- known. If p_replay_status is null, a response stored when the call went to review becomes the replay.
-- Raises check_violation if p_cost or a quantity is negative, or p_cost or p_quantities is none.
CREATE OR REPLACE FUNCTION billing_settle(
  p_usage_id text, p_cost bigint, p_basis text, p_quantities jsonb,
  p_replay_status integer DEFAULT NULL, p_replay_headers jsonb DEFAULT NULL, p_replay_body bytea DEFAULT NULL,
  p_deployment text DEFAULT NULL, p_resolution text DEFAULT NULL,
  p_expected text[] DEFAULT '{dispatched,review}', p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT charge_microusd bigint, OUT hold_microusd bigint, OUT overrun_microusd bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_done record;
BEGIN
  PERFORM billing_lock_call(p_usage_id, true);
  v_done := billing_settle_in_batch(
    p_usage_id, p_cost, p_basis, p_quantities, p_replay_status, p_replay_headers, p_replay_body, p_deployment,
    p_resolution, p_expected, p_now);
  outcome := v_done.outcome;
  charge_microusd := v_done.charge_microusd;
  hold_microusd := v_done.hold_microusd;
  overrun_microusd := v_done.overrun_microusd;
  IF v_done.token_subjects IS NOT NULL THEN
    PERFORM billing_use_tokens(
      v_done.token_subjects, array_fill(v_done.tokens, ARRAY[cardinality(v_done.token_subjects)]),
      coalesce(p_now, clock_timestamp()));
  END IF;
END $$;


-- The same for a caller that has locked the call's wallet, and counts the tokens of all its calls together: each used `tokens` under
-- every limit of `token_subjects`, null if there are none (billing_use_tokens). The parameters are listed twice because locking again
-- would take 3 % of the time of a settlement, and processes of the version before call billing_settle with exactly these
-- (gateway/core/database/sql.py).
CREATE OR REPLACE FUNCTION billing_settle_in_batch(
  p_usage_id text, p_cost bigint, p_basis text, p_quantities jsonb,
  p_replay_status integer DEFAULT NULL, p_replay_headers jsonb DEFAULT NULL, p_replay_body bytea DEFAULT NULL,
  p_deployment text DEFAULT NULL, p_resolution text DEFAULT NULL,
  p_expected text[] DEFAULT '{dispatched,review}', p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT charge_microusd bigint, OUT hold_microusd bigint, OUT overrun_microusd bigint,
  OUT token_subjects text[], OUT tokens bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_call record;
  v_now timestamptz;
  v_left bigint;
  v_has_budgets boolean;
  v_is_watched boolean;
  v_scope text;
BEGIN
  IF (p_cost >= 0 AND jsonb_typeof(p_quantities) = 'object') IS NOT TRUE THEN
    RAISE EXCEPTION 'call % cannot cost % micro-USD for %', p_usage_id, p_cost, p_quantities
      USING ERRCODE = 'check_violation';
  END IF;
  v_now := coalesce(p_now, clock_timestamp());

  UPDATE ONLY billing_reservation r
     SET state = 'settled', closed_at = v_now, charge_microusd = least(p_cost, r.hold_microusd),
         overrun_microusd = greatest(p_cost - r.hold_microusd, 0), resolution = p_resolution,
         deployment = coalesce(p_deployment, r.deployment)
   WHERE r.id = p_usage_id AND r.state = ANY (p_expected) AND r.state IN ('dispatched', 'review')
  RETURNING r.id, r.wallet_id, r.product, r.membership_id, r.client_id, r.review_reason, r.hold_microusd,
            r.cash_held_microusd, r.charge_microusd, r.overrun_microusd, r.lot_ids, r.lot_amounts_microusd, r.actor_did,
            r.org_id, r.model, r.token_scopes INTO v_call;
  IF NOT FOUND THEN
    SELECT CASE r.state WHEN 'settled' THEN 'already' WHEN 'released' THEN 'released' ELSE 'conflict' END,
           r.charge_microusd, r.hold_microusd, r.overrun_microusd
      INTO outcome, charge_microusd, hold_microusd, overrun_microusd
      FROM billing_find_call(p_usage_id) r;
    outcome := coalesce(outcome, 'unknown');
    RETURN;
  END IF;
  outcome := 'settled';
  charge_microusd := v_call.charge_microusd;
  hold_microusd := v_call.hold_microusd;
  overrun_microusd := v_call.overrun_microusd;

  v_left := charge_microusd;
  IF v_call.cash_held_microusd < hold_microusd THEN
    v_left := charge_microusd - billing_unwind_lots(v_call, charge_microusd, v_now);
  END IF;
  IF v_call.cash_held_microusd > 0 THEN
    UPDATE billing_wallet w
       SET balance_microusd = w.balance_microusd - v_left, held_microusd = w.held_microusd - v_call.cash_held_microusd
     WHERE w.id = v_call.wallet_id
    RETURNING w.has_budgets, w.balance_microusd - w.debt_microusd < greatest(w.alert_below_microusd, w.top_up_below_microusd)
         INTO v_has_budgets, v_is_watched;
  ELSE
    -- What is left of the credit that was held last is mostly enough to know.
    SELECT w.has_budgets,
           w.balance_microusd - w.debt_microusd < greatest(w.alert_below_microusd, w.top_up_below_microusd)
             AND NOT EXISTS (SELECT FROM billing_credit_lot l
                              WHERE l.id = v_call.lot_ids[cardinality(v_call.lot_ids)]
                                AND (l.expires_at IS NULL OR l.expires_at > v_now)
                                AND w.balance_microusd - w.debt_microusd + l.remaining_microusd
                                    >= greatest(w.alert_below_microusd, w.top_up_below_microusd))
      INTO v_has_budgets, v_is_watched
      FROM billing_wallet w WHERE w.id = v_call.wallet_id;
  END IF;
  IF v_left > 0 THEN
    INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
    VALUES ('charge', p_usage_id, 0, 'wallet:' || v_call.wallet_id, 'platform:revenue', v_left, v_call.wallet_id, v_now);
  END IF;
  IF v_has_budgets THEN
    PERFORM billing_unwind_budgets(v_call, charge_microusd, v_now);
  END IF;

  INSERT INTO billing_usage_record (
    reservation_id, input_tokens, cached_input_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens,
    input_audio_tokens, output_audio_tokens, images, input_characters, seconds, input_bytes, items, service_tier,
    price_band, charge_microusd, basis, settled_at, cost_microusd, cost_version_id)
  VALUES (
    p_usage_id, (p_quantities->>'input_tokens')::bigint, (p_quantities->>'cached_input_tokens')::bigint,
    (p_quantities->>'cache_write_tokens')::bigint, (p_quantities->>'cache_write_1h_tokens')::bigint,
    (p_quantities->>'output_tokens')::bigint, (p_quantities->>'input_audio_tokens')::bigint,
    (p_quantities->>'output_audio_tokens')::bigint, (p_quantities->>'images')::bigint,
    (p_quantities->>'input_characters')::bigint, (p_quantities->>'seconds')::bigint,
    (p_quantities->>'input_bytes')::bigint, (p_quantities->>'items')::bigint,
    p_quantities->>'service_tier', (p_quantities->>'price_band')::bigint, charge_microusd, p_basis, v_now,
    (p_quantities->>'cost_microusd')::bigint, (p_quantities->>'cost_version_id')::bigint);

  IF p_replay_status IS NOT NULL AND v_call.review_reason IS NULL THEN
    INSERT INTO billing_stored_replay (reservation_id, status, headers, body, expires_at)
    VALUES (p_usage_id, p_replay_status, p_replay_headers, p_replay_body, v_now + interval '24 hours');
  ELSIF p_replay_status IS NOT NULL THEN
    INSERT INTO billing_stored_replay AS s (reservation_id, status, headers, body, expires_at)
    VALUES (p_usage_id, p_replay_status, p_replay_headers, p_replay_body, v_now + interval '24 hours')
    ON CONFLICT (reservation_id) DO UPDATE
      SET status = EXCLUDED.status, headers = EXCLUDED.headers, body = EXCLUDED.body, expires_at = EXCLUDED.expires_at;
  ELSIF v_call.review_reason IS NOT NULL THEN
    UPDATE billing_stored_replay s SET expires_at = v_now + interval '24 hours' WHERE s.reservation_id = p_usage_id;
  END IF;
  IF overrun_microusd > 0 THEN
    INSERT INTO billing_loss (reservation_id, kind, amount_microusd, created_at)
    VALUES (p_usage_id, 'overrun', v_call.overrun_microusd, v_now);
  END IF;
  IF v_call.token_scopes IS NOT NULL THEN
    -- No more than a meter takes (billing_filled).
    tokens := least(coalesce((p_quantities->>'input_tokens')::bigint, 0), 20000000000)
              + least(coalesce((p_quantities->>'output_tokens')::bigint, 0), 20000000000);
    IF tokens > 0 THEN
      FOREACH v_scope IN ARRAY v_call.token_scopes LOOP
        token_subjects := token_subjects || (v_scope || ' ' || CASE v_scope
          WHEN 'account' THEN v_call.actor_did WHEN 'member' THEN v_call.membership_id WHEN 'client' THEN v_call.client_id
          WHEN 'alias' THEN v_call.model ELSE v_call.org_id END);
      END LOOP;
    END IF;
  END IF;

  IF v_call.product IS NOT NULL THEN
    PERFORM billing_record_usage('usage.settled', v_call.wallet_id, p_usage_id, v_call.product, v_now);
  END IF;
  IF v_is_watched AND charge_microusd > 0 THEN
    PERFORM billing_watch_wallet(v_call.wallet_id, v_now);
  END IF;
END $$;


-- What only functions of the version before called.
DROP FUNCTION IF EXISTS billing_settle_locked(
  text, bigint, text, jsonb, integer, jsonb, bytea, text, text, text[], timestamptz);
