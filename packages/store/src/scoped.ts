import type { Scope } from '@parley/contract'

/** Puts the owner, environment and tenant of each row together, as `scope`. */
export function scoped<Row extends { readonly scope: Scope }>(rows: readonly unknown[]): Row[] {
  return (rows as readonly (Scope & Omit<Row, 'scope'>)[]).map(
    ({ owner_id, environment, tenant_id, ...row }) =>
      ({ ...row, scope: { owner_id, environment, tenant_id } }) as unknown as Row,
  )
}
