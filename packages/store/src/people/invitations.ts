import type { PrincipalRef, Role, Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { takeTeamTurn } from './members.ts'
import type { PersonToken } from './tokens.ts'

/** The most members and pending invitations of an organisation. */
export const MOST_PEOPLE = 1000

/** An invitation that was neither accepted nor revoked; it may have expired. */
export interface InvitationRow {
  readonly invitation_id: string
  readonly email: string
  readonly role: Role
  readonly invited_by: PrincipalRef
  readonly created_at: string
  readonly sent_at: string
  readonly expires_at: string
}

const INVITATION_COLUMNS = [
  'invitation_id',
  'email',
  'role',
  'invited_by',
  'created_at',
  'sent_at',
  'expires_at',
] as const

/** Lists the pending invitations, newest first. */
export function listInvitations(db: Queries, scope: Scope): Promise<InvitationRow[]> {
  return db
    .selectFrom('invitations')
    .select(INVITATION_COLUMNS)
    .where('owner_id', '=', scope.owner_id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('invitation_id')
    .execute()
}

interface NewInvitation {
  readonly email: string
  readonly role: Role
  readonly invited_by: PrincipalRef
  /** How long its link is good. */
  readonly validMs: number
}

type InvitationFault = 'already_member' | 'invitation_pending' | 'limit_reached'

/** Creates an invitation, unless the address belongs to a member or to a pending invitation. */
export async function insertInvitation(
  tx: Queries,
  scope: Scope,
  { email, role, invited_by, validMs }: NewInvitation,
  { hash }: PersonToken,
): Promise<InvitationRow | InvitationFault> {
  await takeTeamTurn(tx, scope)
  const { rows } = await sql<{ is_member: boolean; is_invited: boolean; people: number }>`
    select coalesce(bool_or(kind = 'member' and email_key = parley.lowered(${email}::text) collate "C"), false) as is_member,
      coalesce(bool_or(kind = 'invitation' and email_key = parley.lowered(${email}::text) collate "C"), false) as is_invited,
      count(*)::integer as people
    from (
      select 'member' as kind, email_key from parley.members
      where owner_id = ${scope.owner_id}::uuid and removed_at is null
      union all
      select 'invitation', email_key from parley.invitations
      where owner_id = ${scope.owner_id}::uuid and accepted_at is null and revoked_at is null
    ) known`.execute(tx)
  const { is_member, is_invited, people } = rows[0]!
  if (is_member) return 'already_member'
  if (is_invited) return 'invitation_pending'
  if (people >= MOST_PEOPLE) return 'limit_reached'
  return tx
    .insertInto('invitations')
    .values({
      owner_id: scope.owner_id,
      email,
      role,
      invited_by: JSON.stringify(invited_by),
      token_hash: hash,
      expires_at: endOf(validMs),
    })
    .returning(INVITATION_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Gives a pending invitation a new link and expiry; the old link is dead. Null: there is no such pending invitation. */
export async function renewInvitation(
  tx: Queries,
  scope: Scope,
  invitationId: string,
  { hash }: PersonToken,
  validMs: number,
): Promise<InvitationRow | null> {
  const renewed = await tx
    .updateTable('invitations')
    .set({ token_hash: hash, sent_at: sql<string>`parley.now_ms()`, expires_at: endOf(validMs) })
    .where('owner_id', '=', scope.owner_id)
    .where('invitation_id', '=', invitationId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning(INVITATION_COLUMNS)
    .executeTakeFirst()
  return renewed ?? null
}

/** Revokes an invitation; one that is revoked already does not change. Null: there is no such invitation, or it was accepted. */
export async function revokeInvitation(tx: Queries, scope: Scope, invitationId: string): Promise<InvitationRow | null> {
  const revoked = await tx
    .updateTable('invitations')
    .set({ revoked_at: sql<string>`coalesce(revoked_at, parley.now_ms())` })
    .where('owner_id', '=', scope.owner_id)
    .where('invitation_id', '=', invitationId)
    .where('accepted_at', 'is', null)
    .returning(INVITATION_COLUMNS)
    .executeTakeFirst()
  return revoked ?? null
}

function endOf(validMs: number) {
  return sql<string>`parley.now_ms() + ${validMs} * interval '1 ms'`
}
