-- inference_open_calls(p_calls json, p_bodies bytea[], p_wait boolean) RETURNS TABLE (answer json, body bytea)
--
-- The first round trip of metered calls, several in one transaction, one row out for each call in, in the same order:
-- takes each caller's proof, answers a repeated request, asks for the live access of an organization's token, places the
-- hold. A call is an object with these members, absent ones being null (p_bodies is not used):
--
--   proof (hex), proof_issued_at, proof_expires_at (Unix seconds), did, session_id: as accounts_admit takes them
--   is_admitted: a trial of the same request has taken the proof; account and session must still be live
--   owner_kind, owner_key, route, key, digest (hex): whose call it is, and its idempotency key
--   the rest of the hold's, as billing_hold takes them
--   stop_before: the step before which the process already knows that the request fails
--     'idempotency'  take the proof, no more (outcome is null)
--     'access'       take the proof and look the idempotency key up (outcomes of billing_find_replay)
--     'hold'         the same, and then ask for access
--     null           do everything (outcomes of billing_hold)
--   so that a proof serves once, and a repeated request gets its first answer, whatever else is wrong with the request.
--
-- `answer` has `admission`, what accounts_admit or accounts_liveness says; unless it is 'ok', nothing else was done. With it `outcome`, and
-- `usage_id`, `available_microusd`, `budget_id`, `replay_status`, `replay_headers` as billing_hold has them; `body` is
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
  v_members json[];
  v_owner_kinds text[];
  v_stops text[];
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
    SELECT c.* FROM ROWS FROM (
             json_array_elements(p_calls),
             json_to_recordset(p_calls) AS (
               proof text, proof_issued_at double precision, proof_expires_at double precision, did text,
               session_id text, is_admitted boolean, owner_kind text, owner_key text, stop_before text)
           ) WITH ORDINALITY c (members)
     ORDER BY c.proof, c.ordinality
  LOOP
    v_members[v_call.ordinality] := v_call.members;
    v_owner_kinds[v_call.ordinality] := v_call.owner_kind;
    v_stops[v_call.ordinality] := v_call.stop_before;
    v_admissions[v_call.ordinality] := CASE
      WHEN v_call.stop_before IS NULL AND v_call.owner_kind || ' ' || v_call.owner_key = ANY (v_busy) THEN 'busy'
      WHEN v_call.is_admitted THEN accounts_liveness(v_call.did, v_call.session_id)
      ELSE accounts_admit(
        decode(v_call.proof, 'hex'), to_timestamp(v_call.proof_issued_at), to_timestamp(v_call.proof_expires_at),
        v_call.did, v_call.session_id)
    END;
  END LOOP;

  FOR v_index IN 1 .. cardinality(v_members) LOOP
    IF v_admissions[v_index] = 'busy' THEN
      answer := json_build_object('outcome', 'busy');
      body := NULL;
    ELSIF v_admissions[v_index] <> 'ok' OR v_stops[v_index] = 'idempotency' THEN
      answer := json_build_object('admission', v_admissions[v_index]);
      body := NULL;
    ELSE
      v_opened := inference_open_admitted(v_members[v_index], v_stops[v_index], v_owner_kinds[v_index]);
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
    proof text, proof_issued_at double precision, proof_expires_at double precision, did text, session_id text,
    is_admitted boolean, owner_kind text, owner_key text, stop_before text);

  IF v_call.stop_before IS NULL AND NOT inference_lock_owner(v_call.owner_kind, v_call.owner_key, p_wait) THEN
    answer := json_build_object('outcome', 'busy');
    RETURN;
  END IF;

  v_admission := CASE
    WHEN v_call.is_admitted THEN accounts_liveness(v_call.did, v_call.session_id)
    ELSE accounts_admit(
      decode(v_call.proof, 'hex'), to_timestamp(v_call.proof_issued_at), to_timestamp(v_call.proof_expires_at),
      v_call.did, v_call.session_id)
  END;
  IF v_admission <> 'ok' OR v_call.stop_before = 'idempotency' THEN
    answer := json_build_object('admission', v_admission);
    RETURN;
  END IF;

  v_opened := inference_open_admitted(p_call, v_call.stop_before, v_call.owner_kind);
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


-- Opens one call whose proof was taken. Only the owner's kind and the step to stop before are read here of most calls.
CREATE OR REPLACE FUNCTION inference_open_admitted(
  p_call json, p_stop_before text, p_owner_kind text, OUT answer json, OUT body bytea)
LANGUAGE plpgsql AS $$
DECLARE
  v_reason text;
  v_membership_id text;
  v_found record;
BEGIN
  IF p_owner_kind = 'organization' AND p_stop_before IS DISTINCT FROM 'access' THEN
    SELECT a.reason, a.membership_id INTO v_reason, v_membership_id
      FROM json_to_record(p_call) AS c (owner_key text, did text, product text),
           organizations_access(c.owner_key, c.did, c.product) a;
  END IF;

  IF p_stop_before IS NOT NULL OR v_reason <> 'allowed' THEN
    SELECT f.* INTO v_found
      FROM json_to_record(p_call) AS c (owner_key text, route text, key text, digest text),
           billing_find_replay(p_owner_kind, c.owner_key, c.route, c.key, decode(c.digest, 'hex')) f;
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

  v_found := billing_hold(p_call, v_membership_id);
  answer := json_build_object(
    'admission', 'ok', 'outcome', v_found.outcome, 'usage_id', v_found.usage_id,
    'available_microusd', v_found.available_microusd, 'budget_id', v_found.budget_id,
    'replay_status', v_found.replay_status, 'replay_headers', v_found.replay_headers);
  body := v_found.replay_body;
END $$;


-- The same with other parameters, which only the functions above called.
DROP FUNCTION IF EXISTS inference_open_admitted(
  text, text, text, text, text, text, text, text, text, text, text, text, bytea, bigint, bigint, bigint, interval);
