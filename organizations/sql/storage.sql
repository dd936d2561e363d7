-- Guards that a model cannot state: no two intervals of one subject overlap, and the audit log only grows.
--
-- The subject is a bigint, compared as a range of one number, so that no extension is needed.
ALTER TABLE organizations_seatinterval ADD CONSTRAINT seat_interval_never_overlaps EXCLUDE USING gist (
    int8range(seat_id, seat_id, '[]') WITH &&, tstzrange(started_at, ended_at) WITH &&
);
ALTER TABLE organizations_entitlementinterval ADD CONSTRAINT entitlement_interval_never_overlaps EXCLUDE USING gist (
    int8range(entitlement_id, entitlement_id, '[]') WITH &&, tstzrange(started_at, ended_at) WITH &&
);

CREATE OR REPLACE FUNCTION organizations_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE TRIGGER audit_entry_is_never_changed BEFORE UPDATE OR DELETE ON organizations_auditentry
    FOR EACH ROW EXECUTE FUNCTION organizations_refuse_change();
