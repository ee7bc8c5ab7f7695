import { Refusal } from '@parley/contract'
import {
  type InvitationRow,
  insertInvitation,
  listInvitations,
  listMembers,
  MOST_PEOPLE,
  newPersonToken,
  organisationName,
  removeMember,
  renewInvitation,
  revokeInvitation,
  setMemberRole,
} from '@parley/store'
import type { AuditedResource, Context, Handlers } from '../context.ts'
import { linkUrl } from '../people/person-links.ts'

/** How long the link of an invitation is good. */
const INVITATION_MS = 7 * 24 * 3_600_000

export const teamHandlers = {
  'team.list': async (_, { db, scope }) => {
    const [members, invitations] = await Promise.all([listMembers(db, scope), listInvitations(db, scope)])
    return { status: 200, body: { members, invitations: invitations.map(pending) } }
  },

  'team.invite': async ({ body: { email, role } }, context) => {
    const { db, scope, platform, principal } = context
    assertMayChangeTeam(context)
    const made = newPersonToken({ bytes: platform.randomBytes })
    const values = { email, role, invited_by: principal.ref, validMs: INVITATION_MS }
    const invitation = await insertInvitation(db, scope, values, made)
    if (typeof invitation === 'string')
      throw new Refusal('conflict', INVITATION_FAULTS[invitation], { reason: invitation })
    context.auditResource(ofInvitation(invitation.invitation_id))
    const url = await deliver(context, invitation, made.token)
    return { status: 201, body: { ...pending(invitation), link: platform.links.areMailed ? null : url } }
  },

  'team.invite_resend': async ({ params: { invitation_id } }, context) => {
    const { db, scope, platform } = context
    context.auditResource(ofInvitation(invitation_id))
    assertMayChangeTeam(context)
    const made = newPersonToken({ bytes: platform.randomBytes })
    const invitation = await renewInvitation(db, scope, invitation_id, made, INVITATION_MS)
    if (invitation === null) throw noInvitation(invitation_id)
    await deliver(context, invitation, made.token)
    return { status: 200, body: pending(invitation) }
  },

  'team.invite_revoke': async ({ params: { invitation_id } }, context) => {
    context.auditResource(ofInvitation(invitation_id))
    assertMayChangeTeam(context)
    const invitation = await revokeInvitation(context.db, context.scope, invitation_id)
    if (invitation === null) throw noInvitation(invitation_id)
    return { status: 200, body: pending(invitation) }
  },

  'team.set_role': async ({ params: { user_id }, body: { role } }, context) => {
    context.auditResource(ofMember(user_id))
    assertMayChangeTeam(context)
    const member = await setMemberRole(context.db, context.scope, user_id, role)
    if (member === null) throw noMember(user_id)
    if (member === 'last_admin') throw lastAdmin()
    context.notifyAfterCommit('people', user_id)
    return { status: 200, body: member }
  },

  'team.remove': async ({ params: { user_id } }, context) => {
    context.auditResource(ofMember(user_id))
    assertMayChangeTeam(context)
    const removed = await removeMember(context.db, context.scope, user_id)
    if (removed === null) throw noMember(user_id)
    if (removed === 'last_admin') throw lastAdmin()
    for (const runId of removed.cancelledRuns) {
      context.notifyAfterCommit('run_orders', runId)
      context.notifyAfterCommit('runs', runId)
    }
    context.notifyAfterCommit('people', user_id)
    return { status: 200, body: removed.member }
  },
} satisfies Partial<Handlers>

const INVITATION_FAULTS = {
  already_member: 'a member of the organisation has this address',
  invitation_pending: 'an invitation to this address is pending: resend or revoke it',
  limit_reached: `the organisation has ${MOST_PEOPLE} members and invitations: remove one first`,
} as const

/** People are shared by the environments of an organisation: a key of the sandbox does not change them. */
function assertMayChangeTeam({ principal, scope }: Context): void {
  if (principal.ref.kind === 'user' || scope.environment === 'production') return
  throw new Refusal('forbidden', 'only a person or a key of the production environment can change the team', {
    reason: 'production_only',
  })
}

/** Sends or logs the link after the commit; returns its URL. */
async function deliver(context: Context, { email, expires_at }: InvitationRow, token: string): Promise<string> {
  const { db, scope, platform } = context
  const organisation = await organisationName(db, scope)
  const url = linkUrl(platform.baseUrl(), token)
  context.deliverAfterCommit({ kind: 'invitation', email, organisation, url, expires_at })
  return url
}

function pending(invitation: InvitationRow) {
  return { ...invitation, status: 'pending' as const }
}

function ofInvitation(id: string): AuditedResource {
  return { kind: 'operation', id: `team/invitations/${id}` }
}

function ofMember(id: string): AuditedResource {
  return { kind: 'operation', id: `team/members/${id}` }
}

function noInvitation(id: string): Refusal {
  return new Refusal('not_found', `there is no pending invitation ${id}`)
}

function noMember(id: string): Refusal {
  return new Refusal('not_found', `there is no member ${id}`)
}

function lastAdmin(): Refusal {
  return new Refusal('conflict', 'this member is the only admin: make another member admin first', {
    reason: 'last_admin',
  })
}
