-- inference_open_call(...) RETURNS (admission text, outcome text, usage_id text, available_microusd bigint,
--   budget_id text, replay_status integer, replay_headers jsonb, replay_body bytea, failure text)
--
-- The first round trip of a metered call: takes the caller's proof, answers a repeated request, asks for the live access
-- of an organization's token, places the hold.
--
-- `admission` is what accounts_admit says; unless it is 'ok', nothing else was done. `p_stop_before` names the step
-- before which the process already knows that the request fails:
--   'idempotency'  take the proof, no more (outcome is null)
--   'access'       take the proof and look the idempotency key up (outcomes of billing_find_replay)
--   'hold'         the same, and then ask for access
--   null           do everything (outcomes of billing_reserve)
-- so that a proof serves once, and a repeated request gets its first answer, whatever else is wrong with the request.
--
-- Without live access, and with a key that is free, the outcome is 'denied' and `failure` the reason of
-- organizations_access. A call is its caller's live membership's, whichever one the token was made for.
--
-- A hold that fails for a reason of the database leaves the proof taken: outcome 'failed', the cause in `failure`.
-- The call is marked as sent with its hold, until p_deadline. With p_async the commit does not wait for the disk where a
-- hold was placed: then nothing may be sent before a later flush has ended.
CREATE OR REPLACE FUNCTION inference_open_call(
  p_proof bytea, p_proof_issued_at timestamptz, p_proof_expires_at timestamptz, p_session_id text,
  p_stop_before text,
  p_usage_id text, p_owner_kind text, p_owner_key text, p_actor_did text, p_membership_id text, p_product text,
  p_client_id text, p_route text, p_model text, p_request_id text, p_key text, p_digest bytea,
  p_hold bigint, p_max_cost bigint, p_price_version bigint, p_async boolean, p_deadline timestamptz,
  OUT admission text, OUT outcome text, OUT usage_id text, OUT available_microusd bigint, OUT budget_id text,
  OUT replay_status integer, OUT replay_headers jsonb, OUT replay_body bytea, OUT failure text)
LANGUAGE plpgsql AS $$
DECLARE
  v_reason text;
  v_hold record;
BEGIN
  admission := accounts_admit(p_proof, p_proof_issued_at, p_proof_expires_at, p_actor_did, p_session_id);
  IF admission <> 'ok' OR p_stop_before = 'idempotency' THEN
    RETURN;
  END IF;

  BEGIN
    IF p_owner_kind = 'organization' AND p_stop_before IS DISTINCT FROM 'access' THEN
      SELECT a.reason, a.membership_id INTO v_reason, p_membership_id
        FROM organizations_access(p_owner_key, p_actor_did, p_product) a;
    END IF;

    IF p_stop_before IS NOT NULL OR v_reason <> 'allowed' THEN
      SELECT f.outcome, f.usage_id, f.replay_status, f.replay_headers, f.replay_body
        INTO outcome, usage_id, replay_status, replay_headers, replay_body
        FROM billing_find_replay(p_owner_kind, p_owner_key, p_route, p_key, p_digest) f;
      IF outcome = 'fresh' AND v_reason <> 'allowed' THEN
        outcome := 'denied';
        failure := v_reason;
      END IF;
      RETURN;
    END IF;

    v_hold := billing_reserve(
      p_usage_id, p_owner_kind, p_owner_key, p_actor_did, p_membership_id, p_product, p_client_id, p_route, p_model,
      p_request_id, p_key, p_digest, p_hold, p_max_cost, p_price_version, p_deadline, p_async);
    outcome := v_hold.outcome;
    usage_id := v_hold.usage_id;
    available_microusd := v_hold.available_microusd;
    budget_id := v_hold.budget_id;
    replay_status := v_hold.replay_status;
    replay_headers := v_hold.replay_headers;
    replay_body := v_hold.replay_body;
  EXCEPTION WHEN OTHERS OR query_canceled THEN
    outcome := 'failed';
    failure := SQLERRM;
  END;
END $$;
