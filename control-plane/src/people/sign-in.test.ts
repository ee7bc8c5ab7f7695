import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handlers } from '../handlers.ts'
import { BASE_URL, cookieOf, lastLink, newPerson, type Person, personWith, signIn, tokenOf } from '../testing/people.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

const MANY = { perSecond: 1_000_000, burst: 1_000_000 }
const rates = { key: MANY, costly: MANY, address: MANY, signIn: MANY }

let api: PipelineApi
let admin: Person

beforeAll(async () => {
  api = await pipelineApi(handlers, { limits: { rates }, platform: { baseUrl: () => BASE_URL } })
  admin = await newPerson(api, 'admin@example.com', 'admin')
})
afterAll(() => api?.close())

const session = (options: Parameters<PipelineApi['request']>[2]) => api.request('POST', '/auth/session', options)
const login = (email: string) => api.request('POST', '/auth/login', { key: null, body: { email } })
let people = 0
/** The address of a new member. One address gets five links only. */
const newMember = async (role = 'viewer') => {
  const email = `person-${++people}@example.com`
  await newPerson(api, email, role)
  return email
}
const linkTo = async (email: string) => {
  const before = lastLink(api, email)
  expect(await login(email)).toMatchObject({ status: 202, body: {} })
  await expect.poll(() => lastLink(api, email) !== before).toBe(true)
  return tokenOf(lastLink(api, email)!.url)
}

describe('POST /auth/session with an API key', () => {
  it('the session has the rights of the key, in a cookie that scripts and other sites cannot use', async () => {
    const answer = await session({ key: api.keys.member })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ principal: { kind: 'api_key' }, role: 'member', email: null })
    const attributes = answer.headers['set-cookie']!.split('; ').slice(1)
    expect(attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict', 'Max-Age=2592000'])
    const person = personWith(api, cookieOf(answer), 'session-of-a-key')
    expect((await person.request('GET', '/api/v1/environments')).status).toBe(200)
    expect((await person.request('POST', '/api/v1/agents', { template: 'blank', name: 'Ada' })).status).toBe(201)
    expect((await person.request('GET', '/api/v1/keys')).body.error.details.reason).toBe('role')
  })

  it('the session ends with its key, and with the secret of the key that was traded', async () => {
    const [revoked, rotated] = [await api.newKey('admin'), await api.newKey('admin')]
    const sessions = await Promise.all(
      [revoked, rotated].map(async key => personWith(api, cookieOf(await session({ key: key.secret })), key.key_id)),
    )
    for (const one of sessions) expect((await one.request('GET', '/api/v1/team')).status).toBe(200)
    await api.request('DELETE', `/api/v1/keys/${revoked.key_id}`)
    await api.request('POST', `/api/v1/keys/${rotated.key_id}/rotate`, { idempotencyKey: 'r', body: {} })
    for (const one of sessions) expect((await one.request('GET', '/api/v1/team')).status).toBe(401)
  })

  it('a request without a key or a token, with both, or with an unknown key gets no session', async () => {
    const token = 'x'.repeat(43)
    expect((await session({ key: null })).status).toBe(401)
    expect((await session({ key: null, body: { token } })).status).toBe(401)
    expect((await session({ key: api.keys.admin, body: { token } })).status).toBe(400)
    expect((await session({ key: `parley_live_${'0'.repeat(40)}` })).headers['set-cookie']).toBeUndefined()
  })
})

describe('the session of a person', () => {
  it('the session of a person calls operations with the role of the member, and audits them in its name', async () => {
    const viewer = await newPerson(api, 'viewer@example.com', 'viewer')
    expect((await viewer.request('GET', '/api/v1/team')).status).toBe(200)
    expect((await viewer.request('POST', '/api/v1/agents', { template: 'blank', name: 'A' })).status).toBe(403)
    const made = await admin.request('POST', '/api/v1/agents', { template: 'cloud_chat', name: 'Ada' })
    expect(made.status).toBe(201)
    const { ref, draft } = made.body
    const published = await admin.request('POST', `/api/v1/agents/${ref.id}/publications`, {
      draft_id: draft.draft_id,
      expected_revision: 1,
    })
    expect(published.body.publication).toMatchObject({
      source_kind: 'studio',
      published_by: { kind: 'user', id: admin.user_id },
    })
    const { items } = (await admin.request('GET', '/api/v1/audit')).body
    const own = items.filter((item: { principal: { id: string } }) => item.principal.id === admin.user_id)
    expect(own.map((item: { action: string }) => item.action)).toEqual(
      expect.arrayContaining(['agents.create', 'publications.publish', 'auth.session']),
    )
  })

  it('the session of a person names its environment in Parley-Environment, production by default', async () => {
    const environments = (environment: string) =>
      admin.request('GET', '/api/v1/environments', undefined, { 'parley-environment': environment })
    expect((await environments('sandbox')).status).toBe(404)
    expect((await environments('staging')).status).toBe(400)
    expect((await admin.request('POST', '/api/v1/environments/sandbox', {})).status).toBe(201)
    expect((await environments('sandbox')).body.selected).toBe('sandbox')
    expect((await environments('production')).body.selected).toBe('production')
    expect((await admin.request('GET', '/api/v1/environments')).body.selected).toBe('production')
    const current = await admin.request('GET', '/auth/session', undefined, { 'parley-environment': 'sandbox' })
    expect(current.body).toMatchObject({
      principal: { kind: 'user', id: admin.user_id, environment: 'sandbox' },
      role: 'admin',
      email: 'admin@example.com',
      environment: 'sandbox',
    })
  })

  it.each([
    ['without an Origin', {}],
    ['from another site', { origin: 'https://evil.example' }],
    ['from another port of this machine', { origin: 'http://localhost:3000' }],
    ['from an opaque origin', { origin: 'null' }],
  ])('a write by a cookie is refused %s, and a read is served', async (_, headers) => {
    const request = (method: string, path: string, body?: object) =>
      api.request(method, path, {
        key: null,
        idempotencyKey: 'k',
        ...(body && { body }),
        headers: { cookie: admin.cookie, ...headers },
      })
    expect((await request('POST', '/api/v1/agents', { template: 'blank', name: 'A' })).body.error.code).toBe(
      'forbidden',
    )
    expect((await request('GET', '/api/v1/team')).status).toBe(200)
    if ('origin' in headers) expect((await request('POST', '/auth/logout')).status).toBe(403)
  })

  it('an Authorization header wins over the cookie, and a repeated cookie counts for nothing', async () => {
    const request = (headers: Record<string, string>, key: string | null) =>
      api.request('GET', '/api/v1/audit', { key, headers })
    expect((await request({ cookie: admin.cookie }, api.keys.viewer)).status).toBe(403)
    expect((await request({ cookie: `${admin.cookie}; ${admin.cookie}` }, null)).status).toBe(401)
    expect((await request({ cookie: `a=b; ${admin.cookie}; c=d` }, null)).status).toBe(200)
  })

  it('the session of a person ends at once with POST /auth/logout, which also works without a session', async () => {
    const person = await signIn(api, await linkTo(await newMember()))
    expect((await person.request('GET', '/auth/session')).status).toBe(200)
    const answer = await person.request('POST', '/auth/logout')
    expect(answer).toMatchObject({ status: 200, body: {} })
    expect(answer.headers['set-cookie']).toMatch(/^parley_session=; .*Max-Age=0/)
    expect((await person.request('GET', '/api/v1/team')).status).toBe(401)
    expect((await person.request('POST', '/auth/logout')).status).toBe(200)
  })

  it.each([
    ['12 hours after its last use', "last_used_at = now() - interval '12 hours 1 s'"],
    ['30 days after its start', "created_at = now() - interval '30 days 1 s'"],
  ])('the session of a person ends %s', async (_, set) => {
    const person = await signIn(api, await linkTo(await newMember()))
    await api.db.owner.query(`update parley.sessions set ${set} where user_id = $1`, [person.user_id])
    expect((await person.request('GET', '/api/v1/team')).status).toBe(401)
  })

  it('only hashes of tokens are stored', async () => {
    const token = await linkTo(await newMember())
    const value = admin.cookie.split('=')[1]!
    for (const table of ['sessions', 'login_links', 'invitations', 'audit']) {
      const { rows } = await api.db.owner.query(`select t::text from parley.${table} t`)
      expect(rows.length).toBeGreaterThan(0)
      expect(JSON.stringify(rows)).not.toContain(token)
      expect(JSON.stringify(rows)).not.toContain(value)
    }
  })
})

describe('POST /auth/login', () => {
  it('a link opens one session, within 15 minutes', async () => {
    const email = await newMember()
    const token = await linkTo(email)
    const { expires_at } = lastLink(api, email)!
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 15 * 60_000)).toBeLessThan(60_000)
    expect((await session({ key: null, body: { token } })).status).toBe(201)
    expect((await session({ key: null, body: { token } })).body.error.code).toBe('unauthenticated')
    const late = await linkTo(email)
    await api.db.owner.query('update parley.login_links set expires_at = now()')
    expect((await session({ key: null, body: { token: late } })).status).toBe(401)
  })

  it('a member is found by its address in any case', async () => {
    const email = await newMember()
    await login(email.toUpperCase())
    await expect.poll(() => lastLink(api, email)?.kind).toBe('login')
  })

  it('an address without a member gets the same answer and no link', async () => {
    const [known, unknown] = [await login(await newMember()), await login('nobody@example.com')]
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
    await linkTo(await newMember())
    expect(lastLink(api, 'nobody@example.com')).toBeUndefined()
  })

  it('one address gets at most five links in 15 minutes, for all requests together', async () => {
    await newPerson(api, 'popular@example.com', 'viewer')
    const answers = await Promise.all(Array.from({ length: 12 }, () => login('popular@example.com')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    const links = () =>
      api.platform.deliveredLinks.filter(({ kind, email }) => kind === 'login' && email.startsWith('popular'))
    await expect.poll(() => links().length).toBe(5)
    await linkTo(await newMember())
    expect(links()).toHaveLength(5)
  })

  it('an address that tries too often has to wait, and the answer says how long', async () => {
    const slow = await pipelineApi(handlers, { db: api.db, platform: { baseUrl: () => BASE_URL } })
    try {
      const ask = () => slow.request('POST', '/auth/login', { key: null, body: { email: 'nobody@example.com' } })
      const statuses = (await Promise.all(Array.from({ length: 30 }, ask))).map(({ status }) => status)
      expect(statuses.filter(status => status === 202)).toHaveLength(20)
      expect(Number((await ask()).headers['retry-after'])).toBeGreaterThan(0)
      const guess = await slow.request('POST', '/auth/session', { key: null, body: { token: 'x'.repeat(43) } })
      expect(guess.status).toBe(429)
    } finally {
      await slow.close()
    }
  })
})

describe('the page of a link', () => {
  it('the page of a link is a page without a token, which a program that opens links does not use up', async () => {
    const email = await newMember()
    const token = await linkTo(email)
    const { url } = lastLink(api, email)!
    expect(url).toBe(`${BASE_URL}/auth/link#token=${token}`)
    const page = await api.request('GET', '/auth/link', { key: null })
    expect(page.headers['content-type']).toMatch(/html/)
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    expect((await session({ key: null, body: { token } })).status).toBe(201)
  })
})

describe('a server off loopback', () => {
  it('a server off loopback sets a secure cookie that is bound to its host', async () => {
    const far = await pipelineApi(handlers, { db: api.db, platform: { baseUrl: () => 'https://parley.example' } })
    try {
      const answer = await far.request('POST', '/auth/session', { key: far.keys.viewer })
      expect(answer.headers['set-cookie']).toMatch(/^__Host-parley_session=[\w-]{43}; Path=\/; .*; Secure$/)
    } finally {
      await far.close()
    }
  })
})
