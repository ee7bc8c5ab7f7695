import type { Role, Scope } from '@parley/contract'
import { sql } from 'kysely'
import { lockPresentedKey } from '../api-keys.ts'
import type { PresentedKey } from '../presented-key.ts'
import type { Queries } from '../protocol.ts'

/** What a request presented to prove who sends it: an API key, or a session of a key or of a member. */
export interface PresentedCredentials {
  /** The key of the request or of its session; null: a member's session. */
  readonly key: PresentedKey | null
  readonly user_id: string | null
  /** Null: the key itself was presented. */
  readonly session_id: string | null
}

/**
 * The role that the credentials have now; null: they are no longer valid. The answer holds until the transaction ends:
 * revocations, removals and changes of the role wait for it, and a transaction that asks after they began waits for them.
 */
export async function lockPresented(
  tx: Queries,
  scope: Scope,
  { key, user_id, session_id }: PresentedCredentials,
  roleOfKey: Role,
): Promise<Role | null> {
  if (user_id !== null && session_id !== null) return memberRole(tx, scope, user_id, session_id)
  if (key === null) throw new TypeError('credentials name a key or a member')
  const [isKeyValid, isSessionOpen] = await Promise.all([
    lockPresentedKey(tx, scope, key),
    session_id === null ? true : hasSession(tx, scope, session_id),
  ])
  return isKeyValid && isSessionOpen ? roleOfKey : null
}

async function memberRole(tx: Queries, scope: Scope, userId: string, sessionId: string): Promise<Role | null> {
  // Sent together. The second statement's snapshot is taken once the lock is held.
  const [, found] = await Promise.all([
    sql`select pg_advisory_xact_lock_shared(${lockOfMember(userId)})`.execute(tx),
    tx
      .selectFrom('sessions as s')
      .innerJoin('members as m', 'm.user_id', 's.user_id')
      .select('m.role')
      .where('s.owner_id', '=', scope.owner_id)
      .where('s.session_id', '=', sessionId)
      .where('s.user_id', '=', userId)
      .where('m.removed_at', 'is', null)
      .where(isOpen)
      .executeTakeFirst(),
  ])
  return found?.role ?? null
}

async function hasSession(tx: Queries, scope: Scope, sessionId: string): Promise<boolean> {
  const found = await tx
    .selectFrom('sessions as s')
    .select('s.session_id')
    .where('s.owner_id', '=', scope.owner_id)
    .where('s.session_id', '=', sessionId)
    .where(isOpen)
    .executeTakeFirst()
  return found !== undefined
}

const isOpen = sql<boolean>`parley.session_end(s.created_at, s.last_used_at) > clock_timestamp()`

function lockOfMember(userId: string) {
  return sql`hashtextextended(${`user/${userId}`}, 0)`
}

/** Waits until no transaction relies on the member's role any more, and makes later ones wait until this one ends. */
export async function awaitUsesOfMember(tx: Queries, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockOfMember(userId)})`.execute(tx)
}
