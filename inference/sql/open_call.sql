-- inference_open_calls(p_calls json, p_bodies bytea[], p_wait boolean) RETURNS TABLE (answer json, body bytea)
--
-- The first round trip of metered calls, several in one transaction, one row out for each call in, in the same order:
-- takes each caller's proof, answers a repeated request, asks for the live access of an organization's token, places the
-- hold. A call is an object with these members, absent ones being null (p_bodies is not used):
--
--   proof (hex), proof_issued_at, proof_expires_at (Unix seconds), did, session_id: as accounts_admit takes them
--   owner_kind, owner_key, route, key, digest (hex): whose call it is, and its idempotency key
--   usage_id, membership_id, product, client_id, model, request_id, hold, max_cost, price_version: of the hold
--   deadline_seconds: how long after its hold the call may take before it counts as lost
--   stop_before: the step before which the process already knows that the request fails
--     'idempotency'  take the proof, no more (outcome is null)
--     'access'       take the proof and look the idempotency key up (outcomes of billing_find_replay)
--     'hold'         the same, and then ask for access
--     null           do everything (outcomes of billing_reserve)
--   so that a proof serves once, and a repeated request gets its first answer, whatever else is wrong with the request.
--
-- `answer` has `admission`, what accounts_admit says; unless it is 'ok', nothing else was done. With it `outcome`, and
-- `usage_id`, `available_microusd`, `budget_id`, `replay_status`, `replay_headers` as billing_reserve has them; `body` is
-- the replay's. Without live access, and with a key that is free, the outcome is 'denied' and `reason` that of
-- organizations_access. A call is its caller's live membership's, whichever one the token was made for.
--
-- Without p_wait, a call whose wallet somebody else has locked is answered with the outcome 'busy' and nothing was done
-- for it, its proof not taken; with p_wait all calls must be of one owner. Nothing here waits for a second wallet, and
-- proofs are taken in the order of their digests, after the wallets: no two of these statements can wait for each other.
CREATE OR REPLACE FUNCTION inference_open_calls(p_calls json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_busy text[];
  v_admissions text[];
  v_call record;
  v_opened record;
BEGIN
  IF json_array_length(p_calls) = 1 THEN
    v_opened := inference_open_alone(p_calls->0, p_wait);
    answer := v_opened.answer;
    body := v_opened.body;
    RETURN NEXT;
    RETURN;
  END IF;

  v_busy := inference_lock_owners(p_calls, p_wait);
  FOR v_call IN
    SELECT c.* FROM ROWS FROM (json_to_recordset(p_calls) AS (
             proof text, proof_issued_at double precision, proof_expires_at double precision, did text, session_id text,
             owner_kind text, owner_key text, stop_before text
           )) WITH ORDINALITY c
     ORDER BY c.proof, c.ordinality
  LOOP
    v_admissions[v_call.ordinality] := CASE
      WHEN v_call.stop_before IS NULL AND v_call.owner_kind || ' ' || v_call.owner_key = ANY (v_busy) THEN 'busy'
      ELSE accounts_admit(
        decode(v_call.proof, 'hex'), to_timestamp(v_call.proof_issued_at), to_timestamp(v_call.proof_expires_at),
        v_call.did, v_call.session_id)
    END;
  END LOOP;

  FOR v_call IN
    SELECT c.* FROM ROWS FROM (json_to_recordset(p_calls) AS (
             stop_before text, usage_id text, owner_kind text, owner_key text, did text, membership_id text,
             product text, client_id text, route text, model text, request_id text, key text, digest text, hold bigint,
             max_cost bigint, price_version bigint, deadline_seconds double precision
           )) WITH ORDINALITY c
     ORDER BY c.ordinality
  LOOP
    IF v_admissions[v_call.ordinality] = 'busy' THEN
      answer := json_build_object('outcome', 'busy');
      body := NULL;
    ELSIF v_admissions[v_call.ordinality] <> 'ok' OR v_call.stop_before = 'idempotency' THEN
      answer := json_build_object('admission', v_admissions[v_call.ordinality]);
      body := NULL;
    ELSE
      v_opened := inference_open_admitted(
        v_call.stop_before, v_call.usage_id, v_call.owner_kind, v_call.owner_key, v_call.did, v_call.membership_id,
        v_call.product, v_call.client_id, v_call.route, v_call.model, v_call.request_id, v_call.key,
        decode(v_call.digest, 'hex'), v_call.hold, v_call.max_cost, v_call.price_version,
        make_interval(secs => v_call.deadline_seconds));
      answer := v_opened.answer;
      body := v_opened.body;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;


-- The same for one call: in the same steps, without the order that several of them need.
CREATE OR REPLACE FUNCTION inference_open_alone(p_call json, p_wait boolean, OUT answer json, OUT body bytea)
LANGUAGE plpgsql AS $$
DECLARE
  v_call record;
  v_admission text;
  v_opened record;
BEGIN
  SELECT c.* INTO v_call FROM json_to_record(p_call) AS c (
    proof text, proof_issued_at double precision, proof_expires_at double precision, session_id text, stop_before text,
    usage_id text, owner_kind text, owner_key text, did text, membership_id text, product text, client_id text,
    route text, model text, request_id text, key text, digest text, hold bigint, max_cost bigint, price_version bigint,
    deadline_seconds double precision);

  IF v_call.stop_before IS NULL AND NOT inference_lock_owner(v_call.owner_kind, v_call.owner_key, p_wait) THEN
    answer := json_build_object('outcome', 'busy');
    RETURN;
  END IF;

  v_admission := accounts_admit(
    decode(v_call.proof, 'hex'), to_timestamp(v_call.proof_issued_at), to_timestamp(v_call.proof_expires_at),
    v_call.did, v_call.session_id);
  IF v_admission <> 'ok' OR v_call.stop_before = 'idempotency' THEN
    answer := json_build_object('admission', v_admission);
    RETURN;
  END IF;

  v_opened := inference_open_admitted(
    v_call.stop_before, v_call.usage_id, v_call.owner_kind, v_call.owner_key, v_call.did, v_call.membership_id,
    v_call.product, v_call.client_id, v_call.route, v_call.model, v_call.request_id, v_call.key,
    decode(v_call.digest, 'hex'), v_call.hold, v_call.max_cost, v_call.price_version,
    make_interval(secs => v_call.deadline_seconds));
  answer := v_opened.answer;
  body := v_opened.body;
END $$;


-- inference_lock_owners(p_calls json, p_wait boolean) RETURNS text[]
--
-- Locks the wallets of calls that ask for a hold, opening those that are missing, and names the owners whose wallets
-- somebody else has locked. Wallets are opened in the order of their owners.
CREATE OR REPLACE FUNCTION inference_lock_owners(p_calls json, p_wait boolean) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_owner record;
  v_busy text[];
BEGIN
  FOR v_owner IN
    SELECT DISTINCT c.owner_kind, c.owner_key
      FROM json_to_recordset(p_calls) AS c (owner_kind text, owner_key text, stop_before text)
     WHERE c.stop_before IS NULL
     ORDER BY 1, 2
  LOOP
    IF NOT inference_lock_owner(v_owner.owner_kind, v_owner.owner_key, p_wait) THEN
      v_busy := v_busy || (v_owner.owner_kind || ' ' || v_owner.owner_key);
    END IF;
  END LOOP;
  RETURN v_busy;
END $$;


-- Locks an owner's wallet, opening it where there is none. False where somebody else has locked it and p_wait is not set.
CREATE OR REPLACE FUNCTION inference_lock_owner(p_owner_kind text, p_owner_key text, p_wait boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF NOT p_wait THEN
    PERFORM 1 FROM billing_wallet w
      WHERE w.owner_kind = p_owner_kind AND w.owner_key = p_owner_key FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
      RETURN true;
    END IF;
    IF EXISTS (SELECT FROM billing_wallet w WHERE w.owner_kind = p_owner_kind AND w.owner_key = p_owner_key) THEN
      RETURN false;
    END IF;
  END IF;
  PERFORM billing_lock_wallet(p_owner_kind, p_owner_key);
  RETURN true;
END $$;


-- Opens one call whose proof was taken.
CREATE OR REPLACE FUNCTION inference_open_admitted(
  p_stop_before text, p_usage_id text, p_owner_kind text, p_owner_key text, p_did text, p_membership_id text,
  p_product text, p_client_id text, p_route text, p_model text, p_request_id text, p_key text, p_digest bytea,
  p_hold bigint, p_max_cost bigint, p_price_version bigint, p_allowed interval,
  OUT answer json, OUT body bytea)
LANGUAGE plpgsql AS $$
DECLARE
  v_reason text;
  v_found record;
BEGIN
  IF p_owner_kind = 'organization' AND p_stop_before IS DISTINCT FROM 'access' THEN
    SELECT a.reason, a.membership_id INTO v_reason, p_membership_id
      FROM organizations_access(p_owner_key, p_did, p_product) a;
  END IF;

  IF p_stop_before IS NOT NULL OR v_reason <> 'allowed' THEN
    v_found := billing_find_replay(p_owner_kind, p_owner_key, p_route, p_key, p_digest);
    IF v_found.outcome = 'fresh' AND v_reason <> 'allowed' THEN
      answer := json_build_object('admission', 'ok', 'outcome', 'denied', 'reason', v_reason);
    ELSE
      answer := json_build_object(
        'admission', 'ok', 'outcome', v_found.outcome, 'usage_id', v_found.usage_id,
        'replay_status', v_found.replay_status, 'replay_headers', v_found.replay_headers);
      body := v_found.replay_body;
    END IF;
    RETURN;
  END IF;

  v_found := billing_reserve(
    p_usage_id, p_owner_kind, p_owner_key, p_did, p_membership_id, p_product, p_client_id, p_route, p_model,
    p_request_id, p_key, p_digest, p_hold, p_max_cost, p_price_version, clock_timestamp() + p_allowed);
  answer := json_build_object(
    'admission', 'ok', 'outcome', v_found.outcome, 'usage_id', v_found.usage_id,
    'available_microusd', v_found.available_microusd, 'budget_id', v_found.budget_id,
    'replay_status', v_found.replay_status, 'replay_headers', v_found.replay_headers);
  body := v_found.replay_body;
END $$;
