import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from './protocol.ts'
import type { TombstonesTable } from './schema.ts'

/** What can be deleted and asked to be deleted again. */
type TombstoneKind = TombstonesTable['kind']

type Answer = Readonly<Record<string, unknown>>

/** Keeps what the DELETE of something answered; what an earlier thing of that id left is replaced. */
export async function keepTombstone(
  tx: Queries,
  scope: Scope,
  kind: TombstoneKind,
  id: string,
  answer: Answer,
): Promise<void> {
  const said = JSON.stringify(answer)
  await tx
    .insertInto('tombstones')
    .values({ tenant_id: scope.tenant_id, kind, id, answer: said })
    .onConflict(conflict =>
      conflict
        .columns(['tenant_id', 'kind', 'id'])
        .doUpdateSet({ answer: said, deleted_at: sql<string>`parley.now_ms()` }),
    )
    .execute()
}

/** What the last DELETE of that id answered; null when nothing of that id was deleted, or it was made again since. */
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

/** The id lives again. */
export async function dropTombstone(tx: Queries, scope: Scope, kind: TombstoneKind, id: string): Promise<void> {
  await tx
    .deleteFrom('tombstones')
    .where('tenant_id', '=', scope.tenant_id)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .execute()
}
