-- accounts_liveness(p_did text, p_session_id text) RETURNS text
--
-- Returns whether the holder of a token that was admitted before may continue: 'ok', 'suspended' or 'session_revoked'.
-- It does not record a proof. A revoked session ends calls in progress; one that has merely expired does not.
CREATE OR REPLACE FUNCTION accounts_liveness(p_did text, p_session_id text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN NOT EXISTS (
            SELECT FROM accounts_account WHERE did = p_did AND is_active AND suspended_at IS NULL)
            THEN 'suspended'
        WHEN EXISTS (SELECT FROM accounts_device_session WHERE id = p_session_id AND revoked_at IS NOT NULL)
            THEN 'session_revoked'
        ELSE 'ok'
    END
$$;
