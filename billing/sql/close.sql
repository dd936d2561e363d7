-- billing_close_calls(p_closings json, p_bodies bytea[], p_wait boolean) RETURNS TABLE (answer json, body bytea)
--
-- Closes several calls in one transaction, in order, and returns one row for each closing, in the same order.
-- A closing is an object whose `action` is 'settle', 'release' or 'review'; its other members are the parameters of
-- billing_settle, billing_release and billing_to_review without their `p_`, and p_bodies[n] is the replay_body of
-- closing n. `takeover`, if another model took the call over, is an object with that `model` and the `price_version`
-- that the cost was computed with; it is stored for a call that is settled or goes to review.
--
-- `answer` has `usage_id`, `outcome`, and `charge_microusd`, `hold_microusd`, `overrun_microusd` if the function returns
-- them. A review's outcome is 'review'; 'conflict' if the call is closed, or in review for a reason that stays; 'unknown'
-- if there is no such call.
--
-- Without p_wait, a closing whose wallet is locked by another transaction is not done and returns the outcome 'busy'.
-- It does not delay the others, and a transaction over many wallets waits for none of them, so that there are no
-- deadlocks. With p_wait, all closings must be of one wallet.
CREATE OR REPLACE FUNCTION billing_close_calls(p_closings json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_closing record;
  v_done record;
  v_subject text;
  v_subjects text[];
  v_tokens bigint[];
  v_at integer;
BEGIN
  FOR v_closing IN
    SELECT c.* FROM ROWS FROM (json_to_recordset(p_closings) AS (
             action text, usage_id text, cost bigint, basis text, quantities jsonb, replay_status integer,
             replay_headers jsonb, deployment text, resolution text, reason text, evidence jsonb, takeover jsonb
           )) WITH ORDINALITY c
     ORDER BY c.ordinality
  LOOP
    IF NOT billing_lock_call(v_closing.usage_id, p_wait) THEN
      answer := json_build_object('usage_id', v_closing.usage_id, 'outcome', 'busy');
    ELSIF v_closing.action = 'settle' THEN
      v_done := billing_settle_in_batch(
        v_closing.usage_id, v_closing.cost, v_closing.basis, v_closing.quantities, v_closing.replay_status,
        v_closing.replay_headers, p_bodies[v_closing.ordinality], v_closing.deployment, v_closing.resolution);
      IF v_done.token_subjects IS NOT NULL THEN
        FOREACH v_subject IN ARRAY v_done.token_subjects LOOP
          v_at := array_position(v_subjects, v_subject);
          IF v_at IS NULL THEN
            v_subjects := v_subjects || v_subject;
            v_tokens := v_tokens || v_done.tokens;
          ELSE
            v_tokens[v_at] := least(v_tokens[v_at] + v_done.tokens, 40000000000);
          END IF;
        END LOOP;
      END IF;
      answer := json_build_object(
        'usage_id', v_closing.usage_id, 'outcome', v_done.outcome, 'charge_microusd', v_done.charge_microusd,
        'hold_microusd', v_done.hold_microusd, 'overrun_microusd', v_done.overrun_microusd);
    ELSIF v_closing.action = 'release' THEN
      v_done := billing_release_locked(v_closing.usage_id, v_closing.resolution);
      answer := json_build_object(
        'usage_id', v_closing.usage_id, 'outcome', v_done.outcome, 'hold_microusd', v_done.hold_microusd);
    ELSIF v_closing.action = 'review' THEN
      answer := json_build_object('usage_id', v_closing.usage_id, 'outcome', CASE
        WHEN billing_to_review(
          v_closing.usage_id, v_closing.reason, v_closing.evidence, v_closing.replay_status, v_closing.replay_headers,
          p_bodies[v_closing.ordinality], v_closing.deployment) THEN 'review'
        WHEN EXISTS (SELECT FROM billing_find_call(v_closing.usage_id)) THEN 'conflict'
        ELSE 'unknown' END);
    ELSE
      RAISE EXCEPTION 'no closing is called %', v_closing.action;
    END IF;
    IF v_closing.takeover IS NOT NULL AND answer->>'outcome' IN ('settled', 'review') THEN
      IF NOT EXISTS (SELECT FROM billing_price_version v WHERE v.id = (v_closing.takeover->>'price_version')::bigint) THEN
        RAISE EXCEPTION 'there is no price version of %', v_closing.takeover USING ERRCODE = 'foreign_key_violation';
      END IF;
      INSERT INTO billing_takeover (reservation_id, model, price_version_id, created_at)
      VALUES (v_closing.usage_id, v_closing.takeover->>'model', (v_closing.takeover->>'price_version')::bigint,
              clock_timestamp())
      ON CONFLICT (reservation_id) DO NOTHING;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF v_subjects IS NOT NULL THEN
    PERFORM billing_use_tokens(v_subjects, v_tokens, clock_timestamp());
  END IF;
END $$;


-- billing_lock_call(p_usage_id text, p_wait boolean) RETURNS boolean
--
-- Locks the wallet of a call. False if another transaction has it locked and p_wait is not set. A call that does not
-- exist needs no lock.
CREATE OR REPLACE FUNCTION billing_lock_call(p_usage_id text, p_wait boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF p_wait THEN
    PERFORM 1 FROM billing_wallet w
      WHERE w.id = (SELECT r.wallet_id FROM ONLY billing_reservation r WHERE r.id = p_usage_id) FOR NO KEY UPDATE;
    RETURN true;
  END IF;
  PERFORM 1 FROM billing_wallet w
    WHERE w.id = (SELECT r.wallet_id FROM ONLY billing_reservation r WHERE r.id = p_usage_id)
      FOR NO KEY UPDATE SKIP LOCKED;
  RETURN FOUND OR NOT EXISTS (SELECT FROM ONLY billing_reservation r WHERE r.id = p_usage_id);
END $$;


-- billing_find_call(p_usage_id text) RETURNS SETOF billing_reservation
--
-- The call in whichever table it is; no row if there is none. The monthly tables (months.sql) are searched only if it
-- is not in the hot table.
CREATE OR REPLACE FUNCTION billing_find_call(p_usage_id text) RETURNS SETOF billing_reservation
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT r.* FROM ONLY billing_reservation r WHERE r.id = p_usage_id;
  IF NOT FOUND THEN
    RETURN QUERY SELECT r.* FROM billing_reservation r WHERE r.id = p_usage_id;
  END IF;
END $$;
