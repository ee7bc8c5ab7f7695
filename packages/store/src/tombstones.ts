import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from './protocol.ts'
import type { TombstonesTable } from './schema.ts'

/** The kinds of resources whose repeated DELETE returns the first response. */
type TombstoneKind = TombstonesTable['kind']

type Answer = Readonly<Record<string, unknown>>

/** Stores the response of a DELETE; it replaces that of an earlier resource with the same id. */
export async function insertTombstone(
  tx: Queries,
  scope: Scope,
  kind: TombstoneKind,
  id: string,
  answer: Answer,
): Promise<void> {
  const body = JSON.stringify(answer)
  await tx
    .insertInto('tombstones')
    .values({ tenant_id: scope.tenant_id, kind, id, answer: body })
    .onConflict(conflict =>
      conflict
        .columns(['tenant_id', 'kind', 'id'])
        .doUpdateSet({ answer: body, deleted_at: sql<string>`parley.now_ms()` }),
    )
    .execute()
}

/** The response of the last DELETE of this id; null: nothing with this id was deleted, or it was created again since. */
export async function tombstoneOf(db: Queries, scope: Scope, kind: TombstoneKind, id: string): Promise<Answer | null> {
  const found = await db
    .selectFrom('tombstones')
    .select('answer')
    .where('tenant_id', '=', scope.tenant_id)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .executeTakeFirst()
  return found?.answer ?? null
}

/** Deletes the stored response, because the id exists again. */
export async function dropTombstone(tx: Queries, scope: Scope, kind: TombstoneKind, id: string): Promise<void> {
  await tx
    .deleteFrom('tombstones')
    .where('tenant_id', '=', scope.tenant_id)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .execute()
}
