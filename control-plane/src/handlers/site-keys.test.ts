import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { publishedAgent } from '../testing/request-world.ts'
import { openWholeApi, type WholeApi } from '../testing/whole-api.ts'

const SITE = 'https://clinic.example'
const GENEROUS = { perSecond: 1_000_000, burst: 1_000_000 }
const RATES = { key: GENEROUS, costly: GENEROUS, address: GENEROUS, siteCall: GENEROUS }

let api: WholeApi
let agent_id: string

beforeAll(async () => {
  api = await openWholeApi({ limits: { rates: RATES } })
})
afterAll(() => api?.close())
beforeEach(async () => {
  agent_id = (await publishedAgent(api.world)).agent_id
})

const create = (body: object = {}) =>
  api.world.call('site_keys.create', { body: { name: 'front page', agent_id, origins: [SITE], ...body } })
const revoke = (site_key_id: string) => api.send('site_keys.revoke', { params: { site_key_id } })
const request = async (method: string, headers: Record<string, string>, at = api) => {
  const response = await fetch(new URL('/web/calls', at.url), { method, headers })
  const text = await response.text()
  return {
    status: response.status,
    allowed: response.headers.get('access-control-allow-origin'),
    body: text === '' ? null : JSON.parse(text),
  }
}
const call = (secret: string, origin: string | null = SITE, at = api) =>
  request('POST', { authorization: `Bearer ${secret}`, ...(origin !== null && { origin }) }, at)
const runIdOf = (access: { url: string }) => access.url.split('/').at(-1)!
const sql = (text: string, ...values: unknown[]) => api.db.owner.query(text, values)

describe('site keys', () => {
  it('the secret of a site key is shown once, only its hash is stored, and its limits have defaults', async () => {
    const { secret, ...shown } = await create({ origins: [SITE, 'http://localhost:8000', SITE] })
    expect(secret).toMatch(/^pk_[a-z2-7]{32}$/)
    expect(shown).toMatchObject({
      name: 'front page',
      agent_id,
      origins: [SITE, 'http://localhost:8000'],
      concurrent_limit: 5,
      daily_limit: 100,
      prefix: secret.slice(0, 10),
      revoked_at: null,
    })
    expect((await api.world.call('site_keys.list', { query: { limit: 1 } })).items).toEqual([shown])
    const { rows } = await sql('select k::text from parley.site_keys k')
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  it.each(['clinic.example', 'https://clinic.example/', 'https://Clinic.example', 'https://*.example', '*', 'null'])(
    'the origin %s is refused, since no browser sends it',
    async origin => {
      const answer = await api.send('site_keys.create', { body: { name: 's', agent_id, origins: [origin] } })
      expect([answer.status, answer.body.error.details.issues[0].path]).toEqual([400, '/origins/0'])
    },
  )

  it('a key for an agent that does not exist is refused', async () => {
    const body = { name: 's', agent_id: 'no-such-agent', origins: [SITE] }
    expect((await api.send('site_keys.create', { body })).status).toBe(404)
  })

  it('a site key opens no operation of the API', async () => {
    const { secret } = await create()
    expect((await api.send('agents.list', {}, { key: secret })).status).toBe(401)
  })
})

describe('POST /web/calls', () => {
  it('a page of the site gets address and token of a new run, whose principal is the site key', async () => {
    const { secret, site_key_id } = await create()
    const { status, allowed, body } = await call(secret)
    expect([status, allowed]).toEqual([201, SITE])
    expect(body).toEqual({
      url: expect.stringContaining('/web/runs/'),
      token: expect.stringMatching(/^wt_/),
      ice_servers: [expect.objectContaining({ urls: ['turn:turn.example'] })],
      expires_at: expect.any(String),
    })
    const run = await api.world.call('runs.get', { params: { run_id: runIdOf(body) } })
    expect(run).toMatchObject({
      agent_id,
      channel: 'web',
      state: 'admitted',
      test: false,
      trigger: { kind: 'site_key', site_key_id },
    })
    const { items } = await api.world.call('audit.list', { query: { limit: 1 } })
    expect(items[0]).toMatchObject({
      principal: { kind: 'site_key', id: site_key_id },
      action: 'web_calls.create',
      outcome: 'allowed',
    })
  })

  it('pages of other origins, and programs that name no origin, are refused and may not read the answer', async () => {
    const { secret } = await create()
    for (const origin of ['https://evil.example', 'http://clinic.example', 'null', null]) {
      const { status, allowed, body } = await call(secret, origin)
      expect([status, allowed, body.error.details.reason]).toEqual([403, null, 'origin_not_allowed'])
    }
  })

  it('the preflight of a browser is answered for origins of active site keys alone', async () => {
    const origin = 'https://preflight.example'
    expect(await request('OPTIONS', { origin })).toMatchObject({ status: 403, allowed: null })
    const { site_key_id } = await create({ origins: [origin] })
    expect(await request('OPTIONS', { origin })).toMatchObject({ status: 204, allowed: origin })
    await revoke(site_key_id)
    expect(await request('OPTIONS', { origin })).toMatchObject({ status: 403, allowed: null })
  })

  it('20 calls at the same time stop at the number that the key allows at once', async () => {
    const { secret } = await create({ concurrent_limit: 3 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(secret)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    const refused = answers.find(({ status }) => status === 429)!
    expect(refused.body.error.details).toMatchObject({ reason: 'site_key_limit', limit: 3, used: 3 })
    expect(refused.allowed).toBe(SITE)
  })

  it('calls that are over count for 24 hours', async () => {
    const { secret, site_key_id } = await create({ concurrent_limit: 1, daily_limit: 2 })
    for (let i = 0; i < 2; i++) {
      const { body } = await call(secret)
      await api.world.call('runs.cancel', { params: { run_id: runIdOf(body) }, body: {} })
    }
    expect((await call(secret)).status).toBe(429)
    await sql(
      "update parley.web_calls set created_at = created_at - interval '25 hours' where site_key_id = $1",
      site_key_id,
    )
    expect((await call(secret)).status).toBe(201)
  })

  it('calls count in the capacity and the spend cap of the environment, and a refusal stores no run', async () => {
    const { secret } = await create()
    await sql('update parley.tenants set concurrent_capacity = 0 where tenant_id = $1', api.scope.tenant_id)
    const refused = await call(secret)
    await sql('update parley.tenants set concurrent_capacity = 100000 where tenant_id = $1', api.scope.tenant_id)
    expect([refused.status, refused.body.error.details.reason]).toEqual([429, 'concurrent_capacity'])
    const { rows } = await sql('select count(*)::int as n from parley.runs where agent_id = $1', agent_id)
    expect(rows[0].n).toBe(0)
  })

  it('a revoked key starts no call, and its calls whose page has not connected never start', async () => {
    const { secret, site_key_id } = await create()
    const { body } = await call(secret)
    const first = await revoke(site_key_id)
    expect(first.body.revoked_at).not.toBeNull()
    expect((await revoke(site_key_id)).body).toEqual(first.body)
    expect(await call(secret)).toMatchObject({ status: 401, allowed: null })
    expect((await api.world.call('runs.get', { params: { run_id: runIdOf(body) } })).state).toBe('cancelled')
  })

  it('one address starts no more calls than its limit, whatever the key allows', async () => {
    const siteCall = { perSecond: 1e-6, burst: 10 }
    const limited = await openWholeApi({ limits: { rates: { ...RATES, siteCall } } })
    try {
      const agent = await publishedAgent(limited.world)
      const body = { name: 's', agent_id: agent.agent_id, origins: [SITE], concurrent_limit: 100 }
      const { secret } = await limited.world.call('site_keys.create', { body })
      const answers = await Promise.all(Array.from({ length: 14 }, () => call(secret, SITE, limited)))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
      const refused = answers.find(({ status }) => status === 429)!
      expect([refused.allowed, refused.body.error.details.reason]).toEqual([SITE, 'request_rate'])
    } finally {
      await limited.close()
    }
  })
})
