import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from './protocol.ts'
import type { DraftContent, SecretKind } from './schema.ts'

/** The resources of an environment that a draft can refer to. */
export interface EnvironmentReferences {
  readonly trunks: readonly { readonly trunk_id: string; readonly inbound: boolean }[]
  /** The number that the draft shows, and the first two on its trunk and on the environment's first one. */
  readonly numbers: readonly { readonly phone_number: string; readonly trunk_id: string }[]
  /** `versions`: all stored ones, as decimal digits. */
  readonly secrets: readonly {
    readonly secret_id: string
    readonly kind: SecretKind
    readonly versions: readonly string[]
  }[]
}

/** Reads everything in one statement, so that it is consistent. */
export async function referenceTargets(
  db: Queries,
  { tenant_id }: Scope,
  { telephony }: Pick<DraftContent, 'telephony'>,
): Promise<EnvironmentReferences> {
  const { rows } = await sql<EnvironmentReferences>`
    select
      (
        select coalesce(json_agg(json_build_object('trunk_id', t.trunk_id, 'inbound', t.inbound) order by t.trunk_id), '[]')
        from parley.trunks t where t.tenant_id = ${tenant_id}
      ) as trunks,
      (
        select coalesce(json_agg(distinct jsonb_build_object('phone_number', n.phone_number, 'trunk_id', n.trunk_id)), '[]')
        from (
          select m.phone_number, m.trunk_id from parley.numbers m
          where m.tenant_id = ${tenant_id} and m.phone_number = ${telephony?.from ?? null}::text
          union all
          select s.phone_number, s.trunk_id
          from parley.trunks t
          cross join lateral (
            select m.phone_number, m.trunk_id from parley.numbers m
            where m.tenant_id = ${tenant_id} and m.trunk_id = t.trunk_id
            order by m.phone_number limit 2
          ) s
          where t.tenant_id = ${tenant_id} and (
            t.trunk_id = ${telephony?.trunkId ?? null}::text
            or t.trunk_id = (select min(f.trunk_id) from parley.trunks f where f.tenant_id = ${tenant_id})
          )
        ) n
      ) as numbers,
      ${secretsOf(tenant_id)} as secrets`.execute(db)
  return rows[0] ?? { trunks: [], numbers: [], secrets: [] }
}

/** SQL for the secrets that are not deleted, as a JSON array. `tenantId`: the id, or an SQL expression of it. */
export function secretsOf(tenantId: string | RawBuilder<unknown>) {
  return sql<EnvironmentReferences['secrets']>`(
    select coalesce(json_agg(json_build_object(
      'secret_id', s.secret_id, 'kind', s.kind, 'versions', (
        select coalesce(json_agg(v.version::text order by v.version), '[]') from parley.secret_versions v
        where v.tenant_id = s.tenant_id and v.secret_id = s.secret_id
      )
    ) order by s.secret_id), '[]')
    from parley.secrets s where s.tenant_id = ${tenantId} and s.deleted_at is null
  )`
}
