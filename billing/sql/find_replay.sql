-- billing_find_replay(p_owner_kind text, p_owner_key text, p_route text, p_key text, p_digest bytea,
--                     p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, usage_id text, replay_status integer, replay_headers jsonb, replay_body bytea)
--
-- Returns what a request with this idempotency key gets, without taking any lock. Outcomes:
--   'fresh'        the key is free: never used, its call was released, or it closed 24 h ago or earlier
--   'in_progress'  the key's call is still open (dispatched or in review)
--   'key_reused'   the key belongs to a request with another body
--   'replay'       settled: the stored status, headers and body are returned, nothing is charged
--   'gone'         settled, but no response was stored (settled by the operator or by what was delivered before its
--                  process died): the call must not run, nor be charged, again until the key is free
CREATE OR REPLACE FUNCTION billing_find_replay(
  p_owner_kind text, p_owner_key text, p_route text, p_key text, p_digest bytea, p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT usage_id text, OUT replay_status integer, OUT replay_headers jsonb, OUT replay_body bytea)
LANGUAGE plpgsql AS $$
DECLARE
  v_wallet_id text;
BEGIN
  SELECT w.id INTO v_wallet_id FROM billing_wallet w
   WHERE w.owner_kind = p_owner_kind AND w.owner_key = p_owner_key;
  SELECT f.outcome, f.usage_id, f.replay_status, f.replay_headers, f.replay_body
    INTO outcome, usage_id, replay_status, replay_headers, replay_body
    FROM billing_key_holder(v_wallet_id, p_route, p_key, p_digest, coalesce(p_now, clock_timestamp())) f;
  IF outcome = 'fresh' THEN
    usage_id := NULL;
  END IF;
END $$;


-- The same for a known wallet. With 'fresh', usage_id is the closed call whose key has become free, if there is one, so
-- that the key can be released.
CREATE OR REPLACE FUNCTION billing_key_holder(
  p_wallet_id text, p_route text, p_key text, p_digest bytea, p_now timestamptz,
  OUT outcome text, OUT usage_id text, OUT replay_status integer, OUT replay_headers jsonb, OUT replay_body bytea)
LANGUAGE plpgsql AS $$
DECLARE
  v_state text;
  v_digest bytea;
  v_closed_at timestamptz;
BEGIN
  outcome := 'fresh';
  SELECT r.id, r.state, r.request_digest, r.closed_at INTO usage_id, v_state, v_digest, v_closed_at
    FROM ONLY billing_reservation r
   WHERE r.wallet_id = p_wallet_id AND r.route = p_route AND r.idempotency_key = p_key AND r.replayable;
  IF NOT FOUND OR v_closed_at <= p_now - interval '24 hours' THEN
    RETURN;
  END IF;
  IF v_digest <> p_digest THEN
    outcome := 'key_reused';
  ELSIF v_state <> 'settled' THEN
    outcome := 'in_progress';
  ELSE
    SELECT s.status, s.headers, s.body INTO replay_status, replay_headers, replay_body
      FROM billing_stored_replay s WHERE s.reservation_id = usage_id;
    outcome := CASE WHEN FOUND THEN 'replay' ELSE 'gone' END;
  END IF;
END $$;
