import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { role, uuid } from '../values/names.ts'
import { principalRef } from '../values/references.ts'
import { timestamp } from '../values/time.ts'

/** An e-mail address as SMTP takes it (RFC 5321): `local@domain` without spaces, quotes, brackets or control characters. */
export const email = text(3, 320).regex(/^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+$/u, 'an e-mail address')

const member = z
  .strictObject({
    user_id: uuid,
    email,
    name: text(1, 256).nullable(),
    role,
    created_at: timestamp,
    /** Last use of a session, exact to a minute. */
    last_seen_at: timestamp.nullable(),
  })
  .meta({ id: 'Member' })

/** Listed until it is accepted or revoked, also after it has expired. */
const invitation = z
  .strictObject({
    invitation_id: uuid,
    email,
    role,
    status: z.literal('pending'),
    invited_by: principalRef,
    created_at: timestamp,
    sent_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: 'Invitation' })

const invitationMade = invitation
  .extend({
    /** The link that accepts the invitation, where the platform sends no e-mail; else null. It is shown in this response only. */
    link: z.url().nullable(),
  })
  .meta({ id: 'InvitationCreated' })

const byInvitation = z.strictObject({ invitation_id: uuid })
const byMember = z.strictObject({ user_id: uuid })

const listTeam = operation({
  id: 'team.list',
  method: 'GET',
  path: '/api/v1/team',
  summary: 'List the members of the organisation and its pending invitations',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: z.strictObject({ members: z.array(member), invitations: z.array(invitation) }),
  statuses: [200],
  refusals: {},
})

const invite = operation({
  id: 'team.invite',
  method: 'POST',
  path: '/api/v1/team/invitations',
  summary: 'Invite a person by e-mail; the invitation is good for 7 days',
  role: 'admin',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z.strictObject({ email, role }),
  output: invitationMade,
  statuses: [201, 200],
  refusals: {
    forbidden: ['production_only'],
    conflict: ['already_member', 'invitation_pending', 'limit_reached'],
  },
})

const revokeInvitation = operation({
  id: 'team.invite_revoke',
  method: 'DELETE',
  path: '/api/v1/team/invitations/{invitation_id}',
  summary: 'Revoke a pending invitation: its link stops working',
  role: 'admin',
  idempotency: 'natural',
  params: byInvitation,
  query: null,
  body: null,
  output: invitation,
  statuses: [200],
  refusals: { forbidden: ['production_only'] },
})

const resendInvitation = operation({
  id: 'team.invite_resend',
  method: 'POST',
  path: '/api/v1/team/invitations/{invitation_id}/resend',
  summary: 'Send an invitation again with a new link and expiry; the old link stops working',
  role: 'admin',
  idempotency: 'required_header',
  params: byInvitation,
  query: null,
  body: z.strictObject({}),
  output: invitation,
  statuses: [200],
  refusals: { forbidden: ['production_only'] },
})

const removeMember = operation({
  id: 'team.remove',
  method: 'DELETE',
  path: '/api/v1/team/members/{user_id}',
  summary: 'Remove a member: its sessions end, and its runs that have not begun are cancelled',
  role: 'admin',
  idempotency: 'natural',
  params: byMember,
  query: null,
  body: null,
  output: member,
  statuses: [200],
  refusals: { forbidden: ['production_only'], conflict: ['last_admin'] },
})

const setRole = operation({
  id: 'team.set_role',
  method: 'PATCH',
  path: '/api/v1/team/members/{user_id}',
  summary: "Change a member's role",
  role: 'admin',
  idempotency: 'natural',
  params: byMember,
  query: null,
  body: z.strictObject({ role }),
  output: member,
  statuses: [200],
  refusals: { forbidden: ['production_only'], conflict: ['last_admin'] },
})

export const teamOperations = [listTeam, invite, revokeInvitation, resendInvitation, removeMember, setRole] as const
