import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { PresentedKey } from '../presented-key.ts'
import type { Queries } from '../protocol.ts'
import type { PersonToken } from './tokens.ts'

/** The most open sessions of one member or key; a further one ends the oldest. */
const MOST_SESSIONS = 50

/** A session as its holder sees it. */
interface SessionRow {
  readonly session_id: string
  readonly created_at: string
  /** ISO time at which it ends without further use. */
  readonly expires_at: string
}

/** Whom a new session belongs to. */
type SessionOwner = { readonly user_id: string } | { readonly key: PresentedKey }

/** Opens a session, and deletes those of the organisation that have ended. */
export async function insertSession(
  tx: Queries,
  scope: Scope,
  owner: SessionOwner,
  { hash }: PersonToken,
): Promise<SessionRow> {
  const holder =
    'user_id' in owner
      ? { user_id: owner.user_id, key_id: null, key_hash: null }
      : { user_id: null, key_id: owner.key.key_id, key_hash: owner.key.secret_hash }
  await sql`
    delete from parley.sessions where owner_id = ${scope.owner_id}::uuid and (
      parley.session_end(created_at, last_used_at) <= clock_timestamp()
      or session_id in (
        select session_id from parley.sessions
        where user_id = ${holder.user_id}::uuid or key_id = ${holder.key_id}::uuid
        order by last_used_at desc, session_id desc offset ${MOST_SESSIONS - 1}
      ))`.execute(tx)
  return tx
    .insertInto('sessions')
    .values({ owner_id: scope.owner_id, token_hash: hash, ...holder })
    .returning(['session_id', 'created_at', expiry])
    .executeTakeFirstOrThrow()
}

const expiry = sql<string>`parley.session_end(created_at, last_used_at)`.as('expires_at')

/** Reads a session; null: it has ended. */
export async function readSession(db: Queries, scope: Scope, sessionId: string): Promise<SessionRow | null> {
  const found = await db
    .selectFrom('sessions')
    .select(['session_id', 'created_at', expiry])
    .where('owner_id', '=', scope.owner_id)
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
  return found ?? null
}

/** Ends a session. */
export async function deleteSession(tx: Queries, scope: Scope, sessionId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('owner_id', '=', scope.owner_id).where('session_id', '=', sessionId).execute()
}

/** Ends the member's sessions and login links. */
export async function deleteSessionsOfMember(tx: Queries, scope: Scope, userId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('owner_id', '=', scope.owner_id).where('user_id', '=', userId).execute()
  await tx.deleteFrom('login_links').where('owner_id', '=', scope.owner_id).where('user_id', '=', userId).execute()
}
