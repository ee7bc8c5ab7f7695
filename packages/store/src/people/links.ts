import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { insertMember, type MemberRow, memberOf } from './members.ts'
import type { PersonToken } from './tokens.ts'

/** Login links of one member within their lifetime; further ones are not made. */
const MOST_LINKS = 5

/** Stores a login link; false: the member has five that are still good, so this one was not stored. */
export async function insertLoginLink(
  tx: Queries,
  scope: Scope,
  userId: string,
  { hash }: PersonToken,
  validMs: number,
): Promise<boolean> {
  await sql`delete from parley.login_links
    where owner_id = ${scope.owner_id}::uuid and expires_at <= clock_timestamp()`.execute(tx)
  const { numAffectedRows } = await sql`
    insert into parley.login_links (token_hash, owner_id, user_id, expires_at)
    select ${hash}, owner_id, user_id, parley.now_ms() + ${validMs} * interval '1 ms' from parley.members
    where owner_id = ${scope.owner_id}::uuid and user_id = ${userId}::uuid and removed_at is null
      and (select count(*) from parley.login_links where user_id = ${userId}::uuid) < ${MOST_LINKS}`.execute(tx)
  return numAffectedRows === 1n
}

/** The member that a login link belongs to; the link is used up. Null: it is unknown, used or expired. */
export async function takeLoginLink(tx: Queries, scope: Scope, tokenHash: Buffer): Promise<MemberRow | null> {
  const taken = await tx
    .deleteFrom('login_links')
    .where('owner_id', '=', scope.owner_id)
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', sql<string>`clock_timestamp()`)
    .returning('user_id')
    .executeTakeFirst()
  return taken === undefined ? null : memberOf(tx, scope, taken.user_id)
}

/** Accepts an invitation and returns the new member. Null: the invitation is unknown, expired, accepted or revoked. */
export async function acceptInvitation(
  tx: Queries,
  scope: Scope,
  tokenHash: Buffer,
  name: string | null,
): Promise<MemberRow | null> {
  const accepted = await tx
    .updateTable('invitations')
    .set({ accepted_at: sql<string>`parley.now_ms()` })
    .where('owner_id', '=', scope.owner_id)
    .where('token_hash', '=', tokenHash)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', sql<string>`clock_timestamp()`)
    .returning(['email', 'role'])
    .executeTakeFirst()
  return accepted === undefined ? null : insertMember(tx, scope, { ...accepted, name })
}
