-- The audit log is append-only, except that entries older than a year can be purged (AUDIT_DAYS).
CREATE OR REPLACE FUNCTION organizations_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.created_at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE OR REPLACE TRIGGER audit_entry_is_never_changed BEFORE DELETE OR UPDATE ON organizations_auditentry
    FOR EACH ROW EXECUTE FUNCTION organizations_refuse_change();
