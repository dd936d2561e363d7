-- Remembers which proofs may have been used before the store lost their rows.
--
-- A proof is stored until it expires. Removing unexpired ones (a manual DELETE or TRUNCATE) moves the epoch to the
-- latest expiry among them, and proofs that expire by then are refused. Purging expired proofs does not move it. The
-- triggers have their own search_path, so that a temporary table cannot take the epoch's place.

-- Starts the epoch if there is none. If accounts exist, the epoch itself was lost, so all proofs that may have been used
-- until now are refused. A proof can still be valid for at most its age limit plus twice the allowed clock skew, and
-- its time is rounded up: 91 seconds. Without accounts, no proof can have been used.
CREATE OR REPLACE FUNCTION accounts_begin_epoch() RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lost_until timestamptz;
BEGIN
    IF EXISTS (SELECT 1 FROM accounts_account) THEN
        v_lost_until := clock_timestamp() + interval '91 seconds';
    END IF;
    INSERT INTO accounts_replay_epoch (id, lost_until) VALUES (1, v_lost_until) ON CONFLICT DO NOTHING;
    RETURN coalesce(v_lost_until, '-infinity');
END
$$;

CREATE OR REPLACE FUNCTION accounts_proofs_deleted() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_latest timestamptz;
BEGIN
    SELECT max(expires_at) INTO v_latest FROM gone WHERE expires_at > clock_timestamp();
    UPDATE accounts_replay_epoch SET lost_until = greatest(lost_until, v_latest) WHERE v_latest IS NOT NULL;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION accounts_proofs_truncated() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_latest timestamptz;
BEGIN
    SELECT max(expires_at) INTO v_latest FROM accounts_proof_replay WHERE expires_at > clock_timestamp();
    UPDATE accounts_replay_epoch SET lost_until = greatest(lost_until, v_latest) WHERE v_latest IS NOT NULL;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER accounts_proofs_deleted
    AFTER DELETE ON accounts_proof_replay REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_proofs_deleted();

CREATE OR REPLACE TRIGGER accounts_proofs_truncated
    BEFORE TRUNCATE ON accounts_proof_replay
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_proofs_truncated();

SELECT accounts_begin_epoch();
