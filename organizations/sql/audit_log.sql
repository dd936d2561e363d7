-- The audit log only grows.
CREATE OR REPLACE FUNCTION organizations_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE OR REPLACE TRIGGER audit_entry_is_never_changed BEFORE DELETE OR UPDATE ON organizations_auditentry
    FOR EACH ROW EXECUTE FUNCTION organizations_refuse_change();
