import type { Role } from '@parley/contract'
import { type RunStatement, scopedRows } from '../statements.ts'
import type { LinkHolder, MemberAddress, PeopleAcrossTenants, SessionHolder } from './protocol.ts'

interface SessionRow {
  readonly session_id: string
  readonly user_id: string | null
  readonly key_id: string | null
  readonly key_hash: Buffer | null
  readonly role: Role
  readonly can_dial: boolean
  readonly valid_until: string
  readonly tenant_id: string | null
  readonly owner_id: string
  readonly environment: string
  readonly rate_per_second: number | null
  readonly rate_burst: number | null
}

export function peopleOn(run: RunStatement): PeopleAcrossTenants {
  return {
    async sessionOf(tokenHash, environment) {
      const { rows } = await run('session_of', 'select * from parley.session_of($1, $2)', [tokenHash, environment])
      const [row] = rows as SessionRow[]
      return row === undefined ? null : holderOf(row)
    },
    async touchSessions(sessionIds) {
      await run('touch_sessions', 'select parley.touch_sessions($1::uuid[])', [sessionIds])
    },
    async linkOf(tokenHash) {
      const { rows } = await run('link_of', 'select * from parley.link_of($1)', [tokenHash])
      return scopedRows<LinkHolder>(rows)[0] ?? null
    },
    async membersOf(email) {
      const { rows } = await run('members_of', 'select * from parley.members_of($1)', [email])
      return scopedRows<MemberAddress>(rows)
    },
  }
}

function holderOf(row: SessionRow): SessionHolder {
  const { session_id, role, can_dial, valid_until, owner_id, environment, tenant_id, key_id, key_hash, user_id } = row
  const scope = tenant_id === null ? null : { owner_id, environment, tenant_id }
  const rate =
    row.rate_per_second === null || row.rate_burst === null
      ? null
      : { perSecond: row.rate_per_second, burst: row.rate_burst }
  const session = { session_id, role, can_dial, valid_until, rate }
  if (user_id !== null) return { ...session, user_id, key: null, scope }
  if (key_id === null || key_hash === null || scope === null)
    throw new TypeError('parley.session_of returned a session without a member, and without a key or its environment')
  return { ...session, user_id: null, key: { key_id, secret_hash: key_hash }, scope }
}
