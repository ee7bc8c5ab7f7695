import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { Empty, Fault, Loading, PageHead, Section } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

type Member = ResultFrom<'team.list'>['members'][number]
type Invitation = ResultFrom<'team.list'>['invitations'][number]
const ROLES = ['viewer', 'member', 'admin'] as const
const LIST = ['team.list']

const roleOf = (value: unknown) => ROLES.find(role => role === value) ?? 'viewer'

/** The members of the organisation and the invitations that are open. */
export function TeamPage() {
  const api = useApi()
  const { text } = useTexts()
  const [isInviting, setInviting] = useState(false)
  const team = useQuery({ queryKey: LIST, queryFn: ({ signal }) => api.team.list({}, { signal }) })
  return (
    <>
      <PageHead title={text('nav.team')} lead={text('team.lead')}>
        <button type="button" className="button primary" onClick={() => setInviting(true)}>
          <Icon name="plus" />
          {text('team.invite')}
        </button>
      </PageHead>
      {team.isPending && <Loading />}
      {team.isError && <Fault error={team.error} />}
      {team.data !== undefined && (
        <div className="stack">
          <Members members={team.data.members} />
          {team.data.invitations.length > 0 && <Invitations invitations={team.data.invitations} />}
        </div>
      )}
      {isInviting && <Invite onClose={() => setInviting(false)} />}
    </>
  )
}

function Members({ members }: { readonly members: readonly Member[] }) {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const setRole = useChange(LIST, ({ id, role }: { id: string; role: (typeof ROLES)[number] }) =>
    api.team.setRole({ params: { user_id: id }, body: { role } }),
  )
  const remove = useChange(LIST, (user_id: string) => api.team.remove({ params: { user_id } }))
  const columns: readonly Column<Member>[] = [
    { header: text('team.email'), cell: member => <strong>{member.email}</strong> },
    { header: text('agents.name'), cell: member => member.name ?? '–' },
    {
      header: text('keys.role'),
      cell: member => (
        <select
          aria-label={`${text('keys.role')}: ${member.email}`}
          value={member.role}
          disabled={setRole.isPending}
          onChange={event => setRole.mutate({ id: member.user_id, role: roleOf(event.target.value) })}
        >
          {ROLES.map(role => (
            <option key={role} value={role}>
              {word('role', role)}
            </option>
          ))}
        </select>
      ),
    },
    {
      header: text('team.lastSeen'),
      cell: member => (member.last_seen_at === null ? '–' : dateTime(member.last_seen_at)),
    },
    {
      header: text('version.action'),
      cell: member => <ConfirmButton label={text('team.remove')} onConfirm={() => remove.mutate(member.user_id)} />,
    },
  ]
  return (
    <Section title={text('team.members')}>
      {setRole.isError && <Fault error={setRole.error} />}
      {remove.isError && <Fault error={remove.error} />}
      {members.length === 0 ? (
        <Empty>{text('team.empty')}</Empty>
      ) : (
        <Table caption={text('team.members')} columns={columns} rows={members} keyOf={member => member.user_id} />
      )}
    </Section>
  )
}

function Invitations({ invitations }: { readonly invitations: readonly Invitation[] }) {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const resend = useChange(LIST, (invitation_id: string) =>
    api.team.inviteResend({ params: { invitation_id }, body: {} }),
  )
  const revoke = useChange(LIST, (invitation_id: string) => api.team.inviteRevoke({ params: { invitation_id } }))
  const columns: readonly Column<Invitation>[] = [
    { header: text('team.email'), cell: invitation => <strong>{invitation.email}</strong> },
    { header: text('keys.role'), cell: invitation => word('role', invitation.role) },
    { header: text('keys.expires'), cell: invitation => dateTime(invitation.expires_at) },
    {
      header: text('version.action'),
      cell: ({ invitation_id }) => (
        <span className="badges">
          <button type="button" className="button small" onClick={() => resend.mutate(invitation_id)}>
            {text('team.resend')}
          </button>
          <ConfirmButton label={text('keys.revoke')} onConfirm={() => revoke.mutate(invitation_id)} />
        </span>
      ),
    },
  ]
  return (
    <Section title={text('team.invitations')}>
      {resend.isError && <Fault error={resend.error} />}
      {revoke.isError && <Fault error={revoke.error} />}
      <Table
        caption={text('team.invitations')}
        columns={columns}
        rows={invitations}
        keyOf={({ invitation_id }) => invitation_id}
      />
    </Section>
  )
}

function Invite({ onClose }: { readonly onClose: () => void }) {
  const api = useApi()
  const { text, word } = useTexts()
  const invite = useChange(LIST, (form: FormData) =>
    api.team.invite({ body: { email: String(form.get('email')).trim(), role: roleOf(form.get('role')) } }),
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    invite.mutate(new FormData(event.currentTarget))
  }
  return (
    <Dialog title={text('team.invite')} onClose={onClose}>
      {invite.data !== undefined ? (
        <div className="form">
          <p>{text(invite.data.link === null ? 'team.sent' : 'team.link')}</p>
          {invite.data.link !== null && <pre className="json">{invite.data.link}</pre>}
        </div>
      ) : (
        <form className="form" onSubmit={submit}>
          <TextField label={text('team.email')} name="email" type="email" required maxLength={320} />
          <SelectField
            label={text('keys.role')}
            name="role"
            choices={ROLES.map(role => [role, word('role', role)] as const)}
          />
          <FormActions label={text('team.invite')} isPending={invite.isPending} error={invite.error} />
        </form>
      )}
    </Dialog>
  )
}
