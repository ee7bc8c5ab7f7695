import { type RawBuilder, sql } from 'kysely'

/**
 * An array of a tenant's numbers (E.164) that tells its countries: one for each first seven digits, which no two
 * countries share, at most 1000. `tenant`: of which, as an expression of the query.
 */
export function ownNumbers(tenant: RawBuilder<unknown>) {
  return sql<string[]>`array(
    select distinct on (left(o.phone_number, 8)) o.phone_number from parley.numbers o
    where o.tenant_id = ${tenant} order by left(o.phone_number, 8) limit 1000
  )`
}
