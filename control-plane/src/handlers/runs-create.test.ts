import { createHash } from 'node:crypto'
import { localBus } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { newAgent } from '../testing/request-world.ts'
import { callBody, chatBody } from '../testing/valid-requests.ts'
import { openWholeApi, type WholeApi } from '../testing/whole-api.ts'

let api: WholeApi
let bus: ReturnType<typeof localBus>
beforeAll(async () => {
  bus = localBus()
  api = await openWholeApi({ bus })
})
afterAll(() => api?.close())

const sql = (text: string, ...values: unknown[]) => api.db.owner.query(text, values)
const create = (body: object, as: Parameters<WholeApi['send']>[2] = {}) => api.send('runs.create', { body }, as)
const counted = async () => {
  const { rows } = await sql(
    `select (select count(*)::int from parley.runs) as runs, (select count(*)::int from parley.run_ownership) as permits,
       (select coalesce(sum(calls), 0)::int from parley.call_minutes) as calls`,
  )
  return rows[0]
}

describe('POST /runs', () => {
  it('an accepted run is stored as admitted and the processes that run its kind are woken', async () => {
    const body = { ...(await callBody(api.world)), dynamic_variables: { name: 'Ada' }, metadata: { order: 7 } }
    const { status, body: run } = await create(body, { idempotencyKey: 'my own key' })
    expect(status).toBe(201)
    expect(run).toMatchObject({
      agent_id: body.agent_id,
      publication: { version: 0 },
      channel: 'phone',
      mode: 'outbound',
      state: 'admitted',
      phone_state: 'admitted',
      trigger: { kind: 'api', idempotency_key_sha256: createHash('sha256').update('my own key').digest('hex') },
      from_number: body.from,
      to_number: '+14155552671',
      dynamic_variables: { name: 'Ada' },
      metadata: { order: 7 },
      test: false,
    })
    const work = { kind: 'phone', run_id: run.run_id, scope: api.scope }
    expect(api.platform.wokenRuns.at(-1)).toEqual(work)
    const { rows } = await sql(
      'select trunk_id, key_id, can_dial, notifies from parley.runs where run_id = $1',
      run.run_id,
    )
    expect(rows[0]).toMatchObject({ can_dial: true, notifies: false })
    expect(rows[0].key_id).not.toBeNull()
    expect(rows[0].trunk_id).not.toBeNull()
  })

  it('the answer to POST /runs is the run as GET /runs/{run_id} shows it, for calls and for chats', async () => {
    const more = { dynamic_variables: { name: 'Ada' }, metadata: { order: 7, nested: { b: [1.5, null], a: '' } } }
    for (const body of [await callBody(api.world), await chatBody(api.world)]) {
      const { body: made } = await create({ ...body, ...more })
      const { body: read } = await api.send('runs.get', { params: { run_id: made.run_id } })
      expect(read).toEqual(made)
    }
  })

  it('repeated requests for one run wake and announce it once', async () => {
    const body = await chatBody(api.world)
    const before = api.platform.wokenRuns.length
    const first = await create(body, { idempotencyKey: 'sent-twice' })
    const again = await create(body, { idempotencyKey: 'sent-twice' })
    expect([first.status, again.status, again.body.run_id]).toEqual([201, 200, first.body.run_id])
    expect(api.platform.wokenRuns.slice(before)).toEqual([
      { kind: 'chat', run_id: first.body.run_id, scope: api.scope },
    ])
  })

  it('a new run is the last run of its agent unless it is a test', async () => {
    const body = await chatBody(api.world)
    const { agent_id } = body
    const last = async () => (await api.world.call('agents.get', { params: { agent_id } })).last_run
    expect(await last()).toBeNull()
    await api.world.call('runs.create', { body })
    const { run_id, created_at } = await api.world.call('runs.create', { body })
    expect(await last()).toEqual({ run_id, created_at, state: 'admitted', disposition: null })
    const listed = await api.world.call('agents.list', { query: { q: agent_id } })
    expect(listed.agents[0].last_run.run_id).toBe(run_id)
    const draft = (await api.world.call('agents.get', { params: { agent_id } })).draft
    const { publication } = await api.world.call('publications.publish', {
      params: { agent_id },
      body: { draft_id: draft.draft_id, expected_revision: draft.revision, test: true },
    })
    const test = await create({ ...body, version: publication.ref.version })
    expect(test.body).toMatchObject({ test: true })
    expect((await last()).run_id).toBe(run_id)
  })
})

describe('refusals of POST /runs', () => {
  it('preconditions are checked in a fixed order; each refusal names the remedy and stores nothing', async () => {
    const good = await callBody(api.world)
    const { agent_id, from } = good
    const trunk = (await sql('select trunk_id from parley.numbers where phone_number = $1', from)).rows[0].trunk_id
    const secret = (await sql('select auth_secret_id from parley.trunks where trunk_id = $1', trunk)).rows[0]
      .auth_secret_id
    const tenant = api.scope.tenant_id
    const plan = (path: string, value: unknown) =>
      sql(
        `update parley.publications set plan = jsonb_set(plan, $2::text[], $3::jsonb) where agent_id = $1`,
        agent_id,
        path,
        JSON.stringify(value),
      )
    const tenants = (set: string) => sql(`update parley.tenants set ${set} where tenant_id = $1`, tenant)
    // No precondition holds.
    await tenants(
      'admission_enabled = false, concurrent_capacity = null, daily_call_limit = 0, destinations = \'{"countries": ["DE"], "allow_prefixes": []}\'',
    )
    await sql('update parley.budgets set cap_usd = 0 where tenant_id = $1', tenant)
    await sql("update parley.publications set channels = '{cloud}' where agent_id = $1", agent_id)
    await plan('{providers,llm,model,model_id}', 'gone')
    await plan('{providers,tts,voiceId}', 'gone')
    await sql('update parley.secrets set deleted_at = now() where secret_id = $1', secret)
    const before = await counted()
    const missing = { ...good, from: undefined }
    const strange = { ...good, from: '+12025550000' }

    const steps: [string, object, (() => Promise<unknown>)?][] = [
      ['not_found/', { ...good, agent_id: 'nobody' }],
      ['not_found/', { ...good, version: 7 }],
      ['conflict/agent_not_published', { ...good, agent_id: (await newAgent(api.world)).agent_id }],
      [
        'capability_unavailable/channel_not_supported',
        good,
        () => sql("update parley.publications set channels = '{phone}' where agent_id = $1", agent_id),
      ],
      ['capability_unavailable/telephony_missing', missing],
      ['capability_unavailable/number_unavailable', strange],
      [
        'policy_denied/destination_not_allowed',
        good,
        () => tenants('destinations = \'{"countries": ["US"], "allow_prefixes": []}\''),
      ],
      ['policy_denied/destination_not_allowed', { ...good, to: '+19005551234' }],
      [
        'capability_unavailable/secret_unavailable',
        good,
        () => sql('update parley.secrets set deleted_at = null where secret_id = $1', secret),
      ],
      ['capability_unavailable/model_not_ready', good, () => plan('{providers,llm,model,model_id}', 'near-1')],
      ['capability_unavailable/voice_not_ready', good, () => plan('{providers,tts,voiceId}', 'bea')],
      ['capability_unavailable/admission_disabled', good, () => tenants('admission_enabled = true')],
      ['capability_unavailable/tenant_not_configured', good, () => tenants('concurrent_capacity = 0')],
      [
        'policy_denied/spend_cap',
        good,
        () => sql('update parley.budgets set cap_usd = null where tenant_id = $1', tenant),
      ],
      ['rate_limited/daily_call_limit', good, () => tenants('daily_call_limit = null')],
      ['rate_limited/concurrent_capacity', good, () => tenants('concurrent_capacity = 100000')],
    ]
    for (const [expected, body, mend] of steps) {
      const answer = await create(body)
      const { code, message, details } = answer.body.error ?? {}
      expect(`${code}/${details?.reason ?? ''}`, JSON.stringify(answer.body)).toBe(expected)
      expect(message.length).toBeGreaterThan(10)
      if (code === 'rate_limited') {
        expect(details).toMatchObject({ limit: 0 })
        expect(details.used).toBeTypeOf('number')
        if (details.reason === 'daily_call_limit')
          expect([answer.body.error.retryable, answer.headers['retry-after']]).toEqual([false, undefined])
        else expect(answer.headers['retry-after']).toMatch(/^[1-9]/)
      }
      if (details?.reason === 'spend_cap') expect(details).toMatchObject({ limit: '0' })
      await mend?.()
    }
    expect(await counted()).toEqual(before)
    expect((await create(good)).status).toBe(201)
  })

  it('a run of an archived agent is refused', async () => {
    const body = await chatBody(api.world)
    await api.world.call('agents.delete', { params: { agent_id: body.agent_id } })
    expect(await create(body)).toMatchObject({
      status: 409,
      body: { error: { details: { reason: 'agent_archived' } } },
    })
  })

  it('a phone run of a test version is refused, and a web run of it is not', async () => {
    const { from, agent_id: _, ...call } = await callBody(api.world)
    const { agent_id, ...at } = await newAgent(api.world)
    await api.world.call('publications.publish', { params: { agent_id }, body: { ...at, test: true } })
    expect(await create({ ...call, from, agent_id, version: 0 })).toMatchObject({
      body: { error: { code: 'conflict', details: { reason: 'test_publication' } } },
    })
    const web = await create({ agent_id, version: 0, channel: 'web', mode: 'inbound' })
    expect(web).toMatchObject({ status: 201, body: { channel: 'web', test: true, phone_state: null } })
    expect(web.body.web).toMatchObject({
      kind: 'direct',
      url: expect.stringContaining(`/web/runs/${web.body.run_id}`),
      token: expect.stringMatching(/^wt_[a-z2-7]{32}$/),
      ice_servers: [
        { urls: ['turn:turn.example'], username: `2000000000:${web.body.run_id}`, credential: 'of a test' },
      ],
    })
  })

  it('the token of a web call is refused once it has expired, and the run has no offer', async () => {
    const { agent_id, ...at } = await newAgent(api.world)
    await api.world.call('publications.publish', { params: { agent_id }, body: { ...at, test: true } })
    const { body: run } = await create({ agent_id, version: 0, channel: 'web', mode: 'inbound' })
    await sql("update parley.web_calls set expires_at = now() - interval '1 s' where run_id = $1", run.run_id)
    const offer = [
      ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0'],
      ...['m=audio 9 UDP/TLS/RTP/SAVPF 111', 'a=ice-ufrag:abcd', 'a=ice-pwd:0123456789012345678901'],
      ...['a=fingerprint:sha-256 00:11', 'a=mid:0', 'a=rtpmap:111 opus/48000/2'],
    ].join('\r\n')
    const response = await fetch(new URL(`/web/runs/${run.run_id}`, api.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${run.web.token}`, 'content-type': 'application/sdp' },
      body: offer,
    })
    expect([response.status, await response.json()]).toEqual([
      409,
      { error: expect.objectContaining({ code: 'conflict' }) },
    ])
    const { rows } = await sql('select offer from parley.web_calls where run_id = $1', run.run_id)
    expect(rows).toEqual([{ offer: null }])
  })

  it('a web run is direct without a LiveKit server, and by LiveKit with one unless the request says direct', async () => {
    const { from: _, agent_id, to: __, ...rest } = await callBody(api.world)
    const body = { ...rest, agent_id, channel: 'web', mode: 'inbound' }
    expect(await create({ ...body, web_kind: 'livekit' })).toMatchObject({
      status: 409,
      body: { error: { code: 'capability_unavailable', details: { reason: 'livekit_not_configured' } } },
    })
    const woken = api.platform.wokenRuns.length
    const webRooms = {
      visitorAccess: async (runId: string, validForMs: number) => ({
        url: 'wss://livekit.example',
        token: `visitor of ${runId} for ${validForMs}`,
      }),
    }
    Object.assign(api.platform, { webRooms })
    onTestFinished(() => void Object.assign(api.platform, { webRooms: undefined }))
    const { status, body: run } = await create(body)
    expect(status).toBe(201)
    expect(run.web).toMatchObject({
      kind: 'livekit',
      url: 'wss://livekit.example',
      token: `visitor of ${run.run_id} for 120000`,
      ice_servers: [],
    })
    // The engine joins the room now: it does not wait for an offer.
    expect(api.platform.wokenRuns.slice(woken)).toEqual([{ kind: 'web', run_id: run.run_id, scope: api.scope }])
    const { rows } = await sql('select kind, offer from parley.web_calls where run_id = $1', run.run_id)
    expect(rows).toEqual([{ kind: 'livekit', offer: null }])
    expect((await create({ ...body, web_kind: 'direct' })).body.web).toMatchObject({ kind: 'direct' })
    expect(api.platform.wokenRuns).toHaveLength(woken + 1)
    expect(await create({ ...(await chatBody(api.world)), web_kind: 'direct' })).toMatchObject({ status: 400 })
  })

  it('a key without permission to dial is refused for phone runs only', async () => {
    const call = await callBody(api.world)
    const as = { key: api.keys.member }
    expect(await create(call, as)).toMatchObject({ status: 403, body: { error: { details: { reason: 'can_dial' } } } })
    expect((await create(await chatBody(api.world), as)).status).toBe(201)
    const { secret } = await api.world.call('keys.create', { body: { name: 'd', role: 'member', can_dial: true } })
    expect((await create(call, { key: secret })).status).toBe(201)
  })

  it('a run is refused when the trunk or number of its publication no longer exists', async () => {
    const { from, ...call } = await callBody(api.world)
    const telephony = (trunkId: string) =>
      sql(
        "update parley.publications set plan = jsonb_set(plan, '{telephony}', $2::jsonb) where agent_id = $1",
        call.agent_id,
        JSON.stringify({ trunkId, from }),
      )
    await telephony('no-such-trunk')
    expect((await create(call)).body.error.details.reason).toBe('trunk_unavailable')
    const { rows } = await sql('select trunk_id from parley.numbers where phone_number <> $1 limit 1', from)
    await telephony(rows[0].trunk_id)
    expect((await create(call)).body.error.details.reason).toBe('number_unavailable')
    const own = await sql('select trunk_id from parley.numbers where phone_number = $1', from)
    await telephony(own.rows[0].trunk_id)
    expect((await create(call)).body).toMatchObject({ from_number: from })
  })

  it('unless staff set destinations, calls go only to countries where the environment has a number', async () => {
    const call = await callBody(api.world)
    await sql('update parley.tenants set destinations = null where tenant_id = $1', api.scope.tenant_id)
    const own = await api.db.owner.query(
      "insert into parley.numbers (tenant_id, trunk_id, phone_number) select tenant_id, trunk_id, '+442079460000' from parley.numbers where phone_number = $1",
      [call.from],
    )
    expect(own.rowCount).toBe(1)
    expect((await create({ ...call, to: '+442079460958' })).status).toBe(201)
    expect((await create({ ...call, to: '+493012345678' })).body.error.details.reason).toBe('destination_not_allowed')
    expect((await create({ ...call, to: '+112' })).status).toBe(400)
  })
})
