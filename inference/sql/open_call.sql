-- inference_open_calls(p_calls json, p_bodies bytea[], p_wait boolean) RETURNS TABLE (answer json, body bytea)
--
-- The first round trip of metered calls, several in one transaction, with one row for each call, in the same order:
-- records each caller's proof, answers a repeated request, checks the live access of an organization's token, places
-- the hold. A call is an object with these members, absent ones being null (p_bodies is not used). They are the
-- attributes of the type inference_call: a migration adds new ones.
--
--   proof (hex), proof_issued_at, proof_expires_at (Unix seconds), did, session_id: as for accounts_admit
--   is_admitted: a trial of the same request has recorded the proof; account and session must still be live
--   owner_kind, owner_key, route, key, digest (hex): the call's owner and idempotency key
--   the hold's other members, as for billing_hold_locked
--   limits: the rate limits that apply, in the order of their checks (limits.sql): an array's literal, or an array of objects with scope,
--     subject, and requests, tokens and concurrent where they have them
--   stop_before: the step before which the process already knows that the request fails
--     'idempotency'  only record the proof (outcome is null)
--     'access'       record the proof and look up the idempotency key (outcomes of billing_find_replay)
--     'hold'         the same, then check access
--     null           do everything (outcomes of billing_hold_locked)
-- so that a proof serves once, and a repeated request gets its first response, whatever else is wrong with the request.
--
-- `answer` has `admission`, the result of accounts_admit or accounts_liveness; unless it is 'ok', nothing else was
-- done. With it `outcome`, and `usage_id`, `available_microusd`, `budget_id`, `replay_status`, `replay_headers` as
-- returned by billing_hold_locked; `body` is the replay's. Without live access, and with a free key, the outcome is 'denied',
-- `reason` is that of organizations_access, and `org_id` the organization. With live access and a free key, but without room under a
-- limit, it is 'rate_limited', in a trial and before the refusal of `hold` too; nothing is held then, and no limit counts the call. `levels` is
-- what was used of the limits, without this call (billing_weigh_call); null without limits, and under an organization's token whose caller
-- is no member. A call belongs to its caller's live membership, whichever one the token was issued for.
--
-- Without p_wait, a call whose wallet is locked by another transaction returns the outcome 'busy', and nothing is done
-- for it, its proof not recorded; with p_wait all calls must be of one owner. No statement waits for a second wallet,
-- proofs are recorded in the order of their digests, after the wallets, and the limits that wallets share are locked in their own
-- order after the proofs: two of these statements never wait for each other.
CREATE OR REPLACE FUNCTION inference_open_calls(p_calls json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_calls inference_call[] := ARRAY(SELECT c FROM json_populate_recordset(NULL::inference_call, p_calls) c);
  v_busy text[];
  v_admissions text[];
  v_limits billing_rate_limit[];
  v_proof record;
  v_call inference_call;
  v_index integer := 0;
  v_reason text;
  v_membership_id text;
  v_limited_member text;
  v_read record;
  v_opened record;
  v_now timestamptz;
  v_subjects text[] := '{}';
  v_counted bigint[] := '{}';
  v_places integer[];
  v_token_scopes text[];
  v_is_concurrency_limited boolean;
  v_place integer;
  v_added bigint;
  v_levels bigint[];
  v_is_limited boolean;
BEGIN
  IF cardinality(v_calls) = 1 THEN
    v_call := v_calls[1];
    v_admissions[1] := CASE
      WHEN v_call.stop_before IS NULL AND NOT inference_lock_owner(v_call.owner_kind, v_call.owner_key, p_wait) THEN 'busy'
      WHEN v_call.is_admitted THEN accounts_liveness(v_call.did, v_call.session_id)
      ELSE accounts_admit(
        decode(v_call.proof, 'hex'), to_timestamp(v_call.proof_issued_at), to_timestamp(v_call.proof_expires_at),
        v_call.did, v_call.session_id)
    END;
    IF v_call.limits IS NOT NULL AND v_call.stop_before IS NULL AND v_call.is_trial IS NOT TRUE AND v_admissions[1] = 'ok' THEN
      v_limits := v_call.limits;
    END IF;
  ELSE
    v_busy := inference_lock_owners(v_calls, p_wait);
    FOR v_proof IN
      SELECT c.proof, c.proof_issued_at, c.proof_expires_at, c.did, c.session_id, c.is_admitted, c.owner_kind, c.owner_key,
             c.stop_before, c.is_trial, c.limits, c.ordinality
        FROM unnest(v_calls) WITH ORDINALITY c ORDER BY c.proof, c.ordinality
    LOOP
      v_admissions[v_proof.ordinality] := CASE
        WHEN v_proof.stop_before IS NULL AND v_proof.owner_kind || ' ' || v_proof.owner_key = ANY (v_busy) THEN 'busy'
        WHEN v_proof.is_admitted THEN accounts_liveness(v_proof.did, v_proof.session_id)
        ELSE accounts_admit(
          decode(v_proof.proof, 'hex'), to_timestamp(v_proof.proof_issued_at), to_timestamp(v_proof.proof_expires_at),
          v_proof.did, v_proof.session_id)
      END;
      IF v_proof.limits IS NOT NULL AND v_proof.stop_before IS NULL AND v_proof.is_trial IS NOT TRUE
         AND v_admissions[v_proof.ordinality] = 'ok' AND v_limits IS DISTINCT FROM v_proof.limits
      THEN
        v_limits := v_limits || v_proof.limits;
      END IF;
    END LOOP;
  END IF;
  IF v_limits IS NOT NULL THEN
    PERFORM billing_lock_limits(v_limits);
    v_now := clock_timestamp();
    v_limits := NULL;
  END IF;

  FOREACH v_call IN ARRAY v_calls LOOP
    v_index := v_index + 1;
    IF v_limits IS NOT NULL AND v_call.limits IS NOT NULL AND (v_call.stop_before IS NOT NULL OR v_call.is_trial) THEN
      PERFORM billing_write_meters(v_subjects, v_counted, v_now);
      v_subjects := '{}';
      v_counted := '{}';
      v_limits := NULL;
    END IF;
    IF v_admissions[v_index] = 'busy' THEN
      answer := json_build_object('outcome', 'busy');
      body := NULL;
    ELSIF v_admissions[v_index] <> 'ok' OR v_call.stop_before = 'idempotency' THEN
      answer := inference_answer_early(v_call, v_admissions[v_index], v_now);
      body := NULL;
    ELSE
      v_reason := NULL;
      v_membership_id := NULL;
      v_levels := NULL;
      v_is_limited := false;
      IF v_call.owner_kind = 'organization' AND v_call.stop_before IS DISTINCT FROM 'access' THEN
        SELECT a.reason, a.membership_id INTO v_reason, v_membership_id
          FROM organizations_own_access(v_call.owner_key, v_call.did, v_call.product) a;
      END IF;
      IF v_call.limits IS NOT NULL AND v_call.stop_before IS NULL AND v_call.is_trial IS NOT TRUE THEN
        IF v_call.limits IS DISTINCT FROM v_limits OR v_membership_id IS DISTINCT FROM v_limited_member THEN
          v_read := billing_read_limits(
            v_call.limits, v_call.owner_kind, v_call.owner_key, v_membership_id, v_now, v_subjects, v_counted);
          v_subjects := v_read.subjects;
          v_counted := v_read.counted;
          v_places := v_read.places;
          v_token_scopes := v_read.token_scopes;
          v_is_concurrency_limited := v_read.is_concurrency_limited;
          v_limits := v_call.limits;
          v_limited_member := v_membership_id;
        END IF;
        FOREACH v_place IN ARRAY v_places LOOP
          v_added := v_counted[v_place + 6];
          v_is_limited := v_is_limited OR v_added >= v_counted[v_place + 5];
          v_levels := v_levels || ARRAY[
            v_counted[v_place + 1], v_counted[v_place + 2] + v_added * 60000000, v_counted[v_place + 3],
            v_counted[v_place + 4] + v_added];
        END LOOP;
      ELSIF v_call.limits IS NOT NULL THEN
        IF v_call.owner_kind = 'organization' AND v_call.stop_before = 'access' THEN
          SELECT a.membership_id INTO v_membership_id FROM organizations_own_access(v_call.owner_key, v_call.did) a;
        END IF;
        v_read := billing_weigh_call(v_call.limits, v_call.owner_kind, v_call.owner_key, v_membership_id, v_now);
        v_levels := v_read.levels;
        v_is_limited := v_read.is_exceeded AND v_call.stop_before IS DISTINCT FROM 'access';
      END IF;
      v_opened := inference_open_admitted(
        v_call, v_reason, v_membership_id, v_levels, v_is_limited, v_token_scopes, v_is_concurrency_limited);
      answer := v_opened.answer;
      body := v_opened.body;
      IF v_levels IS NOT NULL AND v_opened.outcome = 'reserved' THEN
        FOREACH v_place IN ARRAY v_places LOOP
          v_added := v_counted[v_place + 6] + 1;
          v_counted[v_place + 6] := v_added;
        END LOOP;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF v_limits IS NOT NULL THEN
    PERFORM billing_write_meters(v_subjects, v_counted, v_now);
  END IF;
END $$;


-- Answers a call of which nothing but its proof was taken: with what is used of its limits, unless its caller was refused or is no
-- member.
CREATE OR REPLACE FUNCTION inference_answer_early(p_call inference_call, p_admission text, p_now timestamptz) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  v_membership_id text;
BEGIN
  IF p_admission = 'ok' AND p_call.limits IS NOT NULL AND p_call.owner_kind = 'organization' THEN
    SELECT a.membership_id INTO v_membership_id FROM organizations_own_access(p_call.owner_key, p_call.did) a;
  END IF;
  IF p_admission <> 'ok' OR p_call.limits IS NULL OR p_call.owner_kind = 'organization' AND v_membership_id IS NULL THEN
    RETURN json_build_object('admission', p_admission);
  END IF;
  RETURN json_build_object('admission', p_admission, 'levels', (
    SELECT w.levels
      FROM billing_weigh_call(p_call.limits, p_call.owner_kind, p_call.owner_key, v_membership_id, p_now) w));
END $$;


-- inference_lock_owners(p_calls inference_call[], p_wait boolean) RETURNS text[]
--
-- Locks the wallets of calls that ask for a hold, opening missing ones, and returns the owners whose wallets are locked
-- by other transactions. Wallets are opened in the order of their owners.
CREATE OR REPLACE FUNCTION inference_lock_owners(p_calls inference_call[], p_wait boolean) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_owner record;
  v_busy text[];
BEGIN
  FOR v_owner IN
    SELECT DISTINCT c.owner_kind, c.owner_key
      FROM unnest(p_calls) c
     WHERE c.stop_before IS NULL
     ORDER BY 1, 2
  LOOP
    IF NOT inference_lock_owner(v_owner.owner_kind, v_owner.owner_key, p_wait) THEN
      v_busy := v_busy || (v_owner.owner_kind || ' ' || v_owner.owner_key);
    END IF;
  END LOOP;
  RETURN v_busy;
END $$;


-- Locks an owner's wallet, opening it if necessary. False if another transaction has locked it and p_wait is not set.
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


-- Opens one call whose proof was recorded and, if it asks for a hold, whose owner's wallet is locked. p_reason and p_membership_id are those
-- of organizations_own_access, null if it was not asked; p_levels is what is used of the call's limits, and p_is_limited whether one of them
-- leaves no room; p_token_scopes and p_is_concurrency_limited are what a call under these limits keeps of them (billing_read_limits),
-- and ignored without limits. `outcome` is that of the hold, null if none was tried.
CREATE OR REPLACE FUNCTION inference_open_admitted(
  p_call inference_call, p_reason text, p_membership_id text, p_levels bigint[], p_is_limited boolean,
  p_token_scopes text[], p_is_concurrency_limited boolean,
  OUT answer json, OUT body bytea, OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
  v_reason text := p_reason;
  v_levels bigint[];
  v_found record;
BEGIN
  IF p_call.stop_before IS NOT NULL OR v_reason <> 'allowed' OR p_is_limited THEN
    IF p_call.owner_kind <> 'organization' OR p_membership_id IS NOT NULL THEN
      v_levels := p_levels;
    END IF;
    IF v_reason = 'allowed' AND EXISTS (
      SELECT FROM billing_wallet w
       WHERE w.owner_kind = p_call.owner_kind AND w.owner_key = p_call.owner_key AND w.is_suspended)
    THEN
      v_reason := 'organization_suspended';
    END IF;
    v_found := billing_find_replay(
      p_call.owner_kind, p_call.owner_key, p_call.route, p_call.key, decode(p_call.digest, 'hex'));
    IF v_found.outcome = 'fresh' AND v_reason <> 'allowed' THEN
      answer := inference_answer_denied(p_call, v_reason, v_levels);
    ELSIF v_found.outcome = 'fresh' AND p_is_limited THEN
      answer := json_build_object('admission', 'ok', 'outcome', 'rate_limited', 'levels', v_levels);
    ELSE
      answer := json_build_object(
        'admission', 'ok', 'outcome', v_found.outcome, 'usage_id', v_found.usage_id,
        'replay_status', v_found.replay_status, 'replay_headers', v_found.replay_headers, 'levels', v_levels);
      body := v_found.replay_body;
    END IF;
    RETURN;
  END IF;

  IF p_call.limits IS NULL THEN
    v_found := billing_hold_locked(p_call, p_membership_id);
  ELSE
    v_found := billing_hold_locked(p_call, p_membership_id, NULL, p_token_scopes, p_is_concurrency_limited);
  END IF;
  outcome := v_found.outcome;
  IF outcome = 'suspended' THEN
    answer := inference_answer_denied(p_call, 'organization_suspended', p_levels);
    RETURN;
  END IF;
  answer := json_build_object(
    'admission', 'ok', 'outcome', v_found.outcome, 'usage_id', v_found.usage_id,
    'available_microusd', v_found.available_microusd, 'budget_id', v_found.budget_id,
    'replay_status', v_found.replay_status, 'replay_headers', v_found.replay_headers, 'levels', p_levels);
  body := v_found.replay_body;
END $$;


-- Answers a call whose caller has no live access to the organization.
CREATE OR REPLACE FUNCTION inference_answer_denied(p_call inference_call, p_reason text, p_levels bigint[]) RETURNS json
LANGUAGE sql AS $$
  SELECT json_build_object(
    'admission', 'ok', 'outcome', 'denied', 'reason', p_reason, 'org_id', p_call.owner_key, 'levels', p_levels)
$$;


-- What only functions of the version before called.
DROP FUNCTION IF EXISTS inference_lock_owners(json, boolean);
DROP FUNCTION IF EXISTS inference_open_admitted(inference_call);
DROP FUNCTION IF EXISTS inference_open_admitted(
  text, text, text, text, text, text, text, text, text, text, text, text, bytea, bigint, bigint, bigint, interval);
DROP FUNCTION IF EXISTS inference_open_alone(inference_call, boolean);
DROP FUNCTION IF EXISTS inference_open_admitted(inference_call, timestamptz, text[], bigint[]);
DROP FUNCTION IF EXISTS inference_answer_early(inference_call, text);
DROP FUNCTION IF EXISTS inference_open_admitted(inference_call, text, text, bigint[], boolean);
