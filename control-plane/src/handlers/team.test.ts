import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handlers } from '../handlers.ts'
import { BASE_URL, lastLink, newPerson, type Person, signIn, tokenOf } from '../testing/people.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

const MANY = { perSecond: 1_000_000, burst: 1_000_000 }
const rates = { key: MANY, costly: MANY, address: MANY, signIn: MANY }

let api: PipelineApi
beforeAll(async () => {
  api = await pipelineApi(handlers, { limits: { rates }, platform: { baseUrl: () => BASE_URL } })
})
afterAll(() => api?.close())

let requests = 0
const send = (method: string, path: string, body?: object, key = api.keys.admin) =>
  api.request(method, `/api/v1/team${path}`, { key, idempotencyKey: `of-a-test-${++requests}`, ...(body && { body }) })
const invite = (email: string, role = 'member') => send('POST', '/invitations', { email, role })
const accept = (link: string) =>
  api.request('POST', '/auth/session', { key: null, body: { token: tokenOf(link), name: 'Ada' } })
const person = (name: string, role = 'member') => newPerson(api, `${name}@example.com`, role)
const team = async () => (await send('GET', '')).body
const refusal = (reason: string) => ({ body: { error: { details: { reason } } } })

describe('an invitation', () => {
  it('an invitation makes its person a member with the invited role, once', async () => {
    const invited = await invite('Ada@example.com', 'viewer')
    expect(invited.status).toBe(201)
    const { link, ...shown } = invited.body
    expect(shown).toMatchObject({
      email: 'Ada@example.com',
      role: 'viewer',
      status: 'pending',
      invited_by: { kind: 'api_key' },
    })
    expect(Date.parse(shown.expires_at) - Date.parse(shown.sent_at)).toBeCloseTo(7 * 24 * 3_600_000, -3)
    expect((await team()).invitations).toContainEqual(shown)
    const accepted = await accept(link)
    expect(accepted.body).toMatchObject({
      role: 'viewer',
      email: 'Ada@example.com',
      name: 'Ada',
      principal: { kind: 'user' },
    })
    expect((await accept(link)).status).toBe(401)
    const { members, invitations } = await team()
    expect(members).toContainEqual(
      expect.objectContaining({
        user_id: accepted.body.principal.id,
        email: 'Ada@example.com',
        name: 'Ada',
        role: 'viewer',
      }),
    )
    expect(invitations).not.toContainEqual(expect.objectContaining({ email: 'Ada@example.com' }))
  })

  it('members and pending invitations are listed newest first', async () => {
    for (const name of ['xan', 'yul', 'zoe']) {
      await person(name)
      await invite(`${name}.again@example.com`)
    }
    const { members, invitations } = await team()
    const emails = (people: readonly { readonly email: string }[]) => people.slice(0, 3).map(({ email }) => email)
    expect(emails(members)).toEqual(['zoe@example.com', 'yul@example.com', 'xan@example.com'])
    expect(emails(invitations)).toEqual(['zoe.again@example.com', 'yul.again@example.com', 'xan.again@example.com'])
  })

  it('an invitation is refused for a member and while another is pending, whatever the case of the address', async () => {
    await person('bea')
    expect(await invite('BEA@example.com')).toMatchObject(refusal('already_member'))
    await invite('cia@example.com')
    expect(await invite('Cia@example.com')).toMatchObject(refusal('invitation_pending'))
    const racing = await Promise.all(Array.from({ length: 10 }, () => invite('dan@example.com')))
    expect(racing.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  it('its link is in the answer of team_invite and in a replay of it, and nowhere else', async () => {
    const request = () =>
      api.request('POST', '/api/v1/team/invitations', {
        idempotencyKey: 'the-same',
        body: { email: 'eve@example.com', role: 'member' },
      })
    const first = await request()
    const again = await request()
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(api.platform.deliveredLinks.filter(({ email }) => email === 'eve@example.com')).toHaveLength(1)
    const resent = await send('POST', `/invitations/${first.body.invitation_id}/resend`, {})
    expect(resent.body.link).toBeUndefined()
    for (const text of [resent.text, (await send('GET', '')).text, (await api.request('GET', '/api/v1/audit')).text])
      expect(text).not.toMatch(/auth\/link|token/)
    expect(api.logged()).not.toContain(tokenOf(first.body.link))
  })

  it('resending makes a new link with a new expiry, and the old link is dead', async () => {
    const { link, invitation_id, expires_at } = (await invite('fay@example.com')).body
    await api.db.owner.query("update parley.invitations set expires_at = now() where email = 'fay@example.com'")
    expect((await accept(link)).status).toBe(401)
    const resent = await send('POST', `/invitations/${invitation_id}/resend`, {})
    expect(resent.status).toBe(200)
    expect(Date.parse(resent.body.expires_at)).toBeGreaterThan(Date.parse(expires_at))
    expect((await accept(link)).status).toBe(401)
    expect((await accept(lastLink(api, 'fay@example.com')!.url)).status).toBe(201)
    expect((await send('POST', `/invitations/${invitation_id}/resend`, {})).status).toBe(404)
  })

  it('a revoked invitation leaves the list, its link is dead, and a repetition gets the same answer', async () => {
    const { link, ...shown } = (await invite('gil@example.com')).body
    const first = await send('DELETE', `/invitations/${shown.invitation_id}`)
    expect([first.status, first.body]).toEqual([200, shown])
    expect(await send('DELETE', `/invitations/${shown.invitation_id}`)).toMatchObject({ status: 200, body: shown })
    expect((await team()).invitations).not.toContainEqual(shown)
    expect((await accept(link)).status).toBe(401)
    expect((await invite('gil@example.com')).status).toBe(201)
  })

  it.each(['nobody', 'a b@example.com', 'a@b@example.com', 'x@example.com\nBcc: y@example.com', '<x@example.com>'])(
    'the address %j is refused',
    async email => expect((await invite(email)).status).toBe(400),
  )
})

describe('the role of a member', () => {
  it('the role of a member takes effect at once, also for a session that is open', async () => {
    const member = await person('hal')
    expect((await member.request('POST', '/api/v1/agents', { template: 'blank', name: 'A' })).status).toBe(201)
    const changed = await send('PATCH', `/members/${member.user_id}`, { role: 'viewer' })
    expect(changed.body).toMatchObject({ user_id: member.user_id, role: 'viewer' })
    expect(await member.request('POST', '/api/v1/agents', { template: 'blank', name: 'A' })).toMatchObject(
      refusal('role'),
    )
    await send('PATCH', `/members/${member.user_id}`, { role: 'admin' })
    expect((await member.request('GET', '/api/v1/audit')).status).toBe(200)
  })

  it('an organisation with members keeps an admin: the last one is neither demoted nor removed', async () => {
    await api.db.owner.query("update parley.members set role = 'member'")
    const [one, other] = [await person('ida', 'admin'), await person('jon', 'admin')]
    const demote = (actor: Person, target: Person) =>
      actor.request('PATCH', `/api/v1/team/members/${target.user_id}`, { role: 'member' })
    const racing = await Promise.all([demote(one, other), demote(other, one)])
    expect(racing.filter(({ status }) => status === 200)).toHaveLength(1)
    const [last] = (await team()).members.filter(({ role }: { role: string }) => role === 'admin')
    expect(await send('PATCH', `/members/${last.user_id}`, { role: 'viewer' })).toMatchObject(refusal('last_admin'))
    expect(await send('DELETE', `/members/${last.user_id}`)).toMatchObject(refusal('last_admin'))
    expect((await send('PATCH', `/members/${last.user_id}`, { role: 'admin' })).status).toBe(200)
  })
})

describe('a member that is removed', () => {
  it('a member that is removed loses its sessions and login links at once; its work stays, and a repetition gets the same answer', async () => {
    const member = await person('kim')
    const { ref } = (await member.request('POST', '/api/v1/agents', { template: 'blank', name: 'Stays' })).body
    await api.request('POST', '/auth/login', { key: null, body: { email: 'kim@example.com' } })
    await expect.poll(() => lastLink(api, 'kim@example.com')?.kind).toBe('login')
    const removed = await send('DELETE', `/members/${member.user_id}`)
    expect(removed).toMatchObject({ status: 200, body: { user_id: member.user_id, email: 'kim@example.com' } })
    expect((await member.request('GET', '/api/v1/team')).status).toBe(401)
    await expect(signIn(api, tokenOf(lastLink(api, 'kim@example.com')!.url))).rejects.toThrow('unauthenticated')
    expect((await api.request('GET', `/api/v1/agents/${ref.id}`)).status).toBe(200)
    const again = await send('DELETE', `/members/${member.user_id}`)
    expect([again.status, again.body]).toEqual([200, removed.body])
    expect((await send('PATCH', `/members/${member.user_id}`, { role: 'admin' })).status).toBe(404)
    expect((await person('kim')).user_id).not.toBe(member.user_id)
  })

  it('its event streams end at once', async () => {
    const member = await person('pia')
    await api.db.owner.query('update parley.tenants set concurrent_capacity = 10, admission_enabled = true')
    const agent = (await member.request('POST', '/api/v1/agents', { template: 'cloud_chat', name: 'A' })).body
    const draft = { draft_id: agent.draft.draft_id, expected_revision: 1 }
    await member.request('POST', `/api/v1/agents/${agent.ref.id}/publications`, draft)
    const run = await api.request('POST', '/api/v1/runs', {
      idempotencyKey: 'followed-by-pia',
      body: { agent_id: agent.ref.id, channel: 'cloud', mode: 'chat' },
    })
    const stream = await fetch(`${api.url}/api/v1/runs/${run.body.run_id}/events`, {
      headers: { cookie: member.cookie },
    })
    expect(stream.status).toBe(200)
    const ended = stream.text()
    await send('DELETE', `/members/${member.user_id}`)
    // Without the removal the stream stays open as long as the run.
    expect(await ended).not.toContain('event: end')
  })

  it('admissions of its runs that race the removal are cancelled or refused', async () => {
    const member = await person('quy')
    const agent = (await member.request('POST', '/api/v1/agents', { template: 'cloud_chat', name: 'A' })).body
    const draft = { draft_id: agent.draft.draft_id, expected_revision: 1 }
    await member.request('POST', `/api/v1/agents/${agent.ref.id}/publications`, draft)
    await api.db.owner.query('update parley.tenants set concurrent_capacity = 1000, admission_enabled = true')
    const body = { agent_id: agent.ref.id, channel: 'cloud', mode: 'chat' }
    const admissions = Array.from({ length: 30 }, () => member.request('POST', '/api/v1/runs', body))
    const removal = send('DELETE', `/members/${member.user_id}`)
    const statuses = (await Promise.all(admissions)).map(({ status }) => status)
    expect((await removal).status).toBe(200)
    expect(statuses.every(status => status === 201 || status === 401)).toBe(true)
    const { rows } = await api.db.owner.query(
      `select state, count(*)::int as n from parley.runs where user_id = $1 group by state`,
      [member.user_id],
    )
    expect(rows.filter(({ state }) => state !== 'cancelled')).toEqual([])
  })

  it('its runs that have not begun are cancelled in both environments, those of others go on', async () => {
    const member = await person('lea')
    const sandbox = await api.request('POST', '/api/v1/environments/sandbox', { body: {} })
    await api.db.owner.query('update parley.tenants set concurrent_capacity = 10, admission_enabled = true')
    const runIn = async (headers: Record<string, string>) => {
      const agent = (await member.request('POST', '/api/v1/agents', { template: 'cloud_chat', name: 'A' }, headers))
        .body
      await member.request(
        'POST',
        `/api/v1/agents/${agent.ref.id}/publications`,
        { draft_id: agent.draft.draft_id, expected_revision: 1 },
        headers,
      )
      const body = { agent_id: agent.ref.id, channel: 'cloud', mode: 'chat' }
      const run = await member.request('POST', '/api/v1/runs', body, headers)
      expect(run.status, run.text).toBe(201)
      return { body, run_id: String(run.body.run_id) }
    }
    const own = [await runIn({}), await runIn({ 'parley-environment': 'sandbox' })]
    const other = await api.request('POST', '/api/v1/runs', { idempotencyKey: 'of-the-key', body: own[0]!.body })
    await send('DELETE', `/members/${member.user_id}`)
    const stateOf = async (run_id: string, key: string) =>
      (await api.request('GET', `/api/v1/runs/${run_id}`, { key })).body.state
    expect(await stateOf(own[0]!.run_id, api.keys.admin)).toBe('cancelled')
    expect(await stateOf(own[1]!.run_id, sandbox.body.key.secret)).toBe('cancelled')
    expect(await stateOf(other.body.run_id, api.keys.admin)).toBe('admitted')
  })
})

describe('the team and the environments', () => {
  it('a key of the sandbox reads the team and does not change it; a person in the sandbox does', async () => {
    await api.request('POST', '/api/v1/environments/sandbox', { body: {} })
    const sandbox = await api.db.database
      .within(api.scope)
      .selectFrom('tenants')
      .selectAll()
      .where('environment', '=', 'sandbox')
      .executeTakeFirstOrThrow()
    const key = (await api.newKey('admin', sandbox)).secret
    expect((await send('GET', '', undefined, key)).body).toEqual(await team())
    expect(await send('POST', '/invitations', { email: 'mia@example.com', role: 'viewer' }, key)).toMatchObject(
      refusal('production_only'),
    )
    const admin = await person('ned', 'admin')
    const invited = await admin.request(
      'POST',
      '/api/v1/team/invitations',
      { email: 'mia@example.com', role: 'viewer' },
      { 'parley-environment': 'sandbox' },
    )
    expect(invited.status).toBe(201)
  })

  it('members of another organisation are neither listed nor changed', async () => {
    const member = await person('ole')
    const key = (await api.newKey('admin', await api.db.scope())).secret
    expect((await send('GET', '', undefined, key)).body).toEqual({ members: [], invitations: [] })
    expect((await send('DELETE', `/members/${member.user_id}`, undefined, key)).status).toBe(404)
    expect((await send('PATCH', `/members/${member.user_id}`, { role: 'admin' }, key)).status).toBe(404)
    expect((await member.request('GET', '/api/v1/team')).status).toBe(200)
  })
})
