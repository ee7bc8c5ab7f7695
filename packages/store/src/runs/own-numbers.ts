import { type RawBuilder, sql } from 'kysely'

/**
 * SQL for an array of a tenant's numbers (E.164), from which its countries follow: one per seven-digit prefix, which no
 * two countries share, at most 1000. `tenant`: SQL expression of the tenant's id.
 */
export function ownNumbers(tenant: RawBuilder<unknown>) {
  return sql<string[]>`array(
    select distinct on (left(o.phone_number, 8)) o.phone_number from parley.numbers o
    where o.tenant_id = ${tenant} order by left(o.phone_number, 8) limit 1000
  )`
}
