import type { Role, Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { cancelRunsOfMember } from '../runs/finish.ts'
import { awaitUsesOfMember } from './presented.ts'
import { deleteSessionsOfMember } from './sessions.ts'

/** A member of the organisation. */
export interface MemberRow {
  readonly user_id: string
  readonly email: string
  readonly name: string | null
  readonly role: Role
  readonly created_at: string
  readonly last_seen_at: string | null
}

const MEMBER_COLUMNS = ['user_id', 'email', 'name', 'role', 'created_at', 'last_seen_at'] as const

/** Serialises the changes of an organisation's members and invitations, so that what was counted still holds at the commit. */
export async function takeTeamTurn(tx: Queries, scope: Scope): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`team/${scope.owner_id}`}, 0))`.execute(tx)
}

/** Lists the members, newest first. */
export function listMembers(db: Queries, scope: Scope): Promise<MemberRow[]> {
  return db
    .selectFrom('members')
    .select(MEMBER_COLUMNS)
    .where('owner_id', '=', scope.owner_id)
    .where('removed_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('user_id')
    .execute()
}

/** Reads a member; null: there is none, or it was removed. */
export async function memberOf(db: Queries, scope: Scope, userId: string): Promise<MemberRow | null> {
  const found = await db
    .selectFrom('members')
    .select(MEMBER_COLUMNS)
    .where('owner_id', '=', scope.owner_id)
    .where('user_id', '=', userId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return found ?? null
}

interface NewMember {
  readonly email: string
  readonly name: string | null
  readonly role: Role
}

export function insertMember(tx: Queries, scope: Scope, member: NewMember): Promise<MemberRow> {
  return tx
    .insertInto('members')
    .values({ owner_id: scope.owner_id, ...member })
    .returning(MEMBER_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Changes the role of a member. Null: there is no such member. `last_admin`: nobody else is admin. */
export async function setMemberRole(
  tx: Queries,
  scope: Scope,
  userId: string,
  role: Role,
): Promise<MemberRow | 'last_admin' | null> {
  await takeTeamTurn(tx, scope)
  await awaitUsesOfMember(tx, userId)
  const member = await memberOf(tx, scope, userId)
  if (member === null || member.role === role) return member
  if (await isLastAdmin(tx, scope, member)) return 'last_admin'
  return tx
    .updateTable('members')
    .set({ role })
    .where('owner_id', '=', scope.owner_id)
    .where('user_id', '=', userId)
    .returning(MEMBER_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** A member that was removed, and the runs that were cancelled with it. */
interface RemovedMember {
  readonly member: MemberRow
  readonly cancelledRuns: readonly string[]
}

/**
 * Removes a member: its sessions and login links end, and its runs that have not begun are cancelled in every environment. A
 * member that was removed already does not change. Null: there was never such a member. `last_admin`: nobody else is admin.
 */
export async function removeMember(
  tx: Queries,
  scope: Scope,
  userId: string,
): Promise<RemovedMember | 'last_admin' | null> {
  await takeTeamTurn(tx, scope)
  await awaitUsesOfMember(tx, userId)
  const found = await tx
    .selectFrom('members')
    .select([...MEMBER_COLUMNS, 'removed_at'])
    .where('owner_id', '=', scope.owner_id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (found === undefined) return null
  const { removed_at, ...member } = found
  if (removed_at !== null) return { member, cancelledRuns: [] }
  if (await isLastAdmin(tx, scope, member)) return 'last_admin'
  await deleteSessionsOfMember(tx, scope, userId)
  await tx
    .updateTable('members')
    .set({ removed_at: sql<string>`parley.now_ms()` })
    .where('owner_id', '=', scope.owner_id)
    .where('user_id', '=', userId)
    .execute()
  return { member, cancelledRuns: await cancelRunsOfMember(tx, scope, userId) }
}

async function isLastAdmin(tx: Queries, scope: Scope, member: MemberRow): Promise<boolean> {
  if (member.role !== 'admin') return false
  const other = await tx
    .selectFrom('members')
    .select('user_id')
    .where('owner_id', '=', scope.owner_id)
    .where('role', '=', 'admin')
    .where('removed_at', 'is', null)
    .where('user_id', '<>', member.user_id)
    .executeTakeFirst()
  return other === undefined
}
