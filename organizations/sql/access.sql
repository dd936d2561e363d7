-- organizations_own_access(p_org_id, p_did, p_product): the live access decision about one person, in one statement.
--
-- Returns exactly one row. reason is 'allowed', 'not_member', 'product_disabled' or 'no_seat'; without a product only
-- membership is checked. For other people all other columns are null, whether or not the organization exists. That the organization
-- is suspended, a hold sees in the wallet, which it reads anyway; so a caller who asks only for reason and membership reads no row of
-- the organization.
CREATE OR REPLACE FUNCTION organizations_own_access(p_org_id text, p_did text, p_product text DEFAULT NULL)
RETURNS TABLE (
    reason text,
    membership_id text,
    role text,
    organization_version bigint,
    membership_version bigint,
    entitlement_version bigint,
    seat_version bigint
)
LANGUAGE sql STABLE AS $$
    SELECT
        CASE
            WHEN m.id IS NULL THEN 'not_member'
            WHEN p_product IS NULL THEN 'allowed'
            WHEN e.is_enabled IS NOT TRUE THEN 'product_disabled'
            WHEN s.assigned_at IS NULL THEN 'no_seat'
            ELSE 'allowed'
        END,
        m.id, m.role, o.version, m.version, e.version, s.version
    FROM (SELECT 1) AS always
    LEFT JOIN accounts_account a ON a.did = p_did
    LEFT JOIN organizations_membership m
        ON m.organization_id = p_org_id AND m.account_id = a.id AND m.removed_at IS NULL
    LEFT JOIN organizations_organization o ON o.id = m.organization_id
    LEFT JOIN organizations_entitlement e ON e.organization_id = m.organization_id AND e.product_id = p_product
    LEFT JOIN organizations_seat s ON s.entitlement_id = e.id AND s.membership_id = m.id
$$;


-- organizations_access(p_org_id, p_did, p_product): the same, and for members of a suspended organization the reason
-- 'organization_suspended'.
CREATE OR REPLACE FUNCTION organizations_access(p_org_id text, p_did text, p_product text DEFAULT NULL)
RETURNS TABLE (
    reason text,
    membership_id text,
    role text,
    organization_version bigint,
    membership_version bigint,
    entitlement_version bigint,
    seat_version bigint
)
LANGUAGE sql STABLE AS $$
    SELECT
        CASE WHEN a.membership_id IS NOT NULL AND o.suspended_at IS NOT NULL THEN 'organization_suspended' ELSE a.reason END,
        a.membership_id, a.role, a.organization_version, a.membership_version, a.entitlement_version, a.seat_version
    FROM organizations_own_access(p_org_id, p_did, p_product) a
    LEFT JOIN organizations_organization o ON o.id = p_org_id
$$;
