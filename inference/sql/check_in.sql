-- inference_check_in_calls(p_check_ins json, p_bodies bytea[], p_wait boolean) RETURNS TABLE (answer json, body bytea)
--
-- Records for several open streams what each has delivered so far and that its process is alive, and returns whether it
-- may continue; one row for each check-in, in the same order (p_bodies and p_wait are not used, `body` is null). A
-- check-in is an object:
--
--   usage_id, evidence: what was delivered, as for billing_note_delivery
--   alive_seconds: after this time without another check-in, the call counts as lost
--   did, session_id, org_id, product: the caller whose live access is checked
--   client_id, consent: the consent that the call needs, null if it needs none
--
-- `answer` has `outcome`: 'ok'; 'closed' (the call was decided elsewhere); 'suspended' or 'session_revoked'
-- (accounts_liveness); for an organization's token, the reason of organizations_access why its access has ended; or
-- 'consent_withdrawn'.
CREATE OR REPLACE FUNCTION inference_check_in_calls(p_check_ins json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_stream record;
  v_outcome text;
BEGIN
  FOR v_stream IN
    SELECT c.* FROM ROWS FROM (json_to_recordset(p_check_ins) AS (
             usage_id text, evidence jsonb, alive_seconds double precision, did text, session_id text, org_id text,
             product text, client_id text, consent text
           )) WITH ORDINALITY c
     ORDER BY c.ordinality
  LOOP
    v_outcome := 'closed';
    IF billing_note_delivery(
      v_stream.usage_id, v_stream.evidence, clock_timestamp() + make_interval(secs => v_stream.alive_seconds))
    THEN
      v_outcome := accounts_liveness(v_stream.did, v_stream.session_id);
      IF v_outcome = 'ok' AND v_stream.org_id IS NOT NULL THEN
        SELECT CASE a.reason WHEN 'allowed' THEN 'ok' ELSE a.reason END INTO v_outcome
          FROM organizations_access(v_stream.org_id, v_stream.did, v_stream.product) a;
      END IF;
      IF v_outcome = 'ok' AND v_stream.consent IS NOT NULL AND EXISTS (
        SELECT FROM accounts_consent c JOIN accounts_account a ON a.id = c.account_id
         WHERE a.did = v_stream.did AND c.client_id = v_stream.client_id AND c.kind = v_stream.consent
           AND c.withdrawn_at IS NOT NULL)
      THEN
        v_outcome := 'consent_withdrawn';
      END IF;
    END IF;
    answer := json_build_object('outcome', v_outcome);
    RETURN NEXT;
  END LOOP;
END $$;
