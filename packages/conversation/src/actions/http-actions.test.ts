import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { httpAction, runScriptedAction, type ScriptedResponse } from './actions.fixture.ts'

const posts = httpAction()
const gets = httpAction({ method: 'GET' })
const keyed = httpAction({ idempotency: 'effect_key' })

describe('an HTTP action with a response', () => {
  it('the duration of an HTTP action is in whole milliseconds', async () => {
    const { outcome } = await runScriptedAction(posts, [{ status: 201, body: '{}', afterMs: 79.66 }])
    expect(outcome.durationMs).toBe(80)
  })

  it('an HTTP action with a 2xx response has succeeded, with one ledger row, decision, send and receipt', async () => {
    const { outcome, row, phases, egress } = await runScriptedAction(posts, [
      { status: 201, body: '{"id":7}', afterMs: 80 },
    ])
    expect(outcome).toEqual({
      outcome: 'succeeded',
      body: { id: 7 },
      effect_id: row!.effect_id,
      error_code: null,
      durationMs: 80,
    })
    expect(row).toMatchObject({
      effect_kind: 'http',
      action: { id: 'book', version: 3 },
      node_id: 'booking',
      ordinal: 0,
      state: 'succeeded',
      decision: { decision: 'allow', reason: null, policy_version: '1' },
      send_attempts: 1,
      error_code: null,
      receipts: [
        {
          kind: 'http',
          status: 201,
          response_sha256: createHash('sha256').update('{"id":7}').digest('hex'),
          response_bytes: 8,
          duration_ms: 80,
          send_attempt: 1,
        },
      ],
    })
    expect(phases).toEqual([{ phase: 'started', effect_id: row!.effect_id }])
    expect(egress.sent).toHaveLength(1)
  })

  it.each([100, 199, 300, 302, 400, 404, 409, 429, 500, 503])(
    'an HTTP action with the status %i has failed with that status as its error code',
    async status => {
      const { outcome, row, egress } = await runScriptedAction(posts, [{ status, body: '{"error":"no"}' }])
      expect(outcome).toMatchObject({ outcome: 'failed', error_code: `http_${status}`, body: { error: 'no' } })
      expect(row).toMatchObject({ state: 'failed', error_code: `http_${status}`, receipts: [{ status }] })
      expect(egress.sent).toHaveLength(1)
    },
  )

  it('a response that is not JSON becomes text, and an empty one becomes null', async () => {
    expect((await runScriptedAction(posts, [{ status: 200, body: 'Booked!' }])).outcome.body).toBe('Booked!')
    expect((await runScriptedAction(posts, [{ status: 204 }])).outcome.body).toBeNull()
  })

  it('the receipt of a truncated response has no hash', async () => {
    const { row } = await runScriptedAction(posts, [{ status: 200, body: 'aaaa', truncated: true }])
    expect(row?.receipts).toMatchObject([{ response_sha256: null, response_bytes: 4 }])
  })
})

describe('an HTTP action without a response', () => {
  it('an HTTP action without an effect key is uncertain after a lost connection and is not retried', async () => {
    const { outcome, row, egress } = await runScriptedAction(posts, [{ lost: 'ECONNRESET' }])
    expect(outcome).toMatchObject({ outcome: 'uncertain', error_code: 'no_answer', body: null })
    expect(row).toMatchObject({ state: 'uncertain', error_code: 'no_answer', receipts: [], send_attempts: 1 })
    expect(egress.sent).toHaveLength(1)
  })

  it('an HTTP action that times out is uncertain', async () => {
    const { outcome, row, tookMs } = await runScriptedAction(httpAction({ timeout_ms: 9000 }), [{ hangs: true }])
    expect(outcome).toMatchObject({ outcome: 'uncertain', error_code: 'timeout', durationMs: 9000 })
    expect(row?.state).toBe('uncertain')
    expect(tookMs).toBe(9000)
  })

  it.each<[string, ScriptedResponse]>([
    ['its host name does not resolve', { unprepared: 'no such name' }],
    ['the connection is refused', { unconnected: 'ECONNREFUSED' }],
  ])('an HTTP action has failed without a retry when %s', async (_, exchange) => {
    for (const action of [posts, keyed, gets]) {
      const { outcome, row, egress } = await runScriptedAction(action, [exchange])
      expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'not_connected' })
      expect(row).toMatchObject({ state: 'failed', error_code: 'not_connected' })
      expect(egress.prepared).toBe(1)
    }
  })
})

describe('retries of an HTTP action', () => {
  it.each([
    ['GET', gets],
    ['a request with an effect key', keyed],
  ])('%s is sent up to three times after a lost connection or a 5xx response', async (_, action) => {
    const { outcome, row, egress } = await runScriptedAction(action, [
      { lost: 'ECONNRESET' },
      { status: 503, body: 'later' },
      { status: 200, body: '"done"' },
    ])
    expect(outcome).toMatchObject({ outcome: 'succeeded', body: 'done', error_code: null })
    expect(row).toMatchObject({
      state: 'succeeded',
      send_attempts: 3,
      receipts: [
        { status: 503, send_attempt: 2 },
        { status: 200, send_attempt: 3 },
      ],
    })
    expect(egress.sent).toHaveLength(3)
  })

  it('a retry sends the same request with the same idempotency key', async () => {
    const { egress, row } = await runScriptedAction(keyed, [{ status: 500 }, { status: 500 }, { status: 200 }])
    for (const request of egress.sent) expect(request.headers?.['idempotency-key']).toBe(row!.effect_key)
    expect(new Set(egress.sent.map(({ url, body, method }) => JSON.stringify([url, body, method]))).size).toBe(1)
  })

  it.each<[string, readonly ScriptedResponse[], string, string]>([
    ['the last response decides', [{ lost: 'x' }, { status: 500 }, { status: 502 }], 'failed', 'http_502'],
    [
      'a lost last response leaves it uncertain',
      [{ status: 500 }, { status: 500 }, { lost: 'x' }],
      'uncertain',
      'no_answer',
    ],
    [
      'three lost responses leave it uncertain',
      [{ lost: 'x' }, { lost: 'x' }, { lost: 'x' }],
      'uncertain',
      'no_answer',
    ],
    [
      'an unreachable host after a lost response leaves it uncertain',
      [{ lost: 'x' }, { unconnected: 'ECONNREFUSED' }, { unprepared: 'no such name' }],
      'uncertain',
      'no_answer',
    ],
    [
      'a forbidden address after a lost response leaves it uncertain',
      [{ lost: 'x' }, { unprepared: 'address_not_allowed' }, { unprepared: 'address_not_allowed' }],
      'uncertain',
      'no_answer',
    ],
    ['a 4xx response is final', [{ status: 500 }, { status: 404 }], 'failed', 'http_404'],
    ['a 429 response is final', [{ status: 429 }], 'failed', 'http_429'],
  ])('an HTTP action that is retried: %s', async (_, script, outcome, error_code) => {
    const trial = await runScriptedAction(keyed, script)
    expect(trial.outcome).toMatchObject({ outcome, error_code })
    expect(trial.row).toMatchObject({ state: outcome, error_code })
    expect(trial.egress.prepared).toBe(script.length)
  })

  it('one timeout covers all attempts of an HTTP action, and no retry starts after it', async () => {
    const action = httpAction({ method: 'GET', timeout_ms: 2000 })
    const trial = await runScriptedAction(action, [{ status: 500, afterMs: 700 }, { hangs: true }])
    expect(trial.egress.sent.map(request => request.timeoutMs)).toEqual([2000, 1100])
    expect(trial.outcome).toMatchObject({ outcome: 'uncertain', error_code: 'timeout', durationMs: 2000 })
    const late = await runScriptedAction(action, [{ status: 500, afterMs: 1800 }])
    expect(late.outcome).toMatchObject({ outcome: 'failed', error_code: 'http_500', durationMs: 1800 })
  })

  it('a write request without an effect key is never retried', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      for (const exchange of [{ lost: 'x' }, { status: 503 }]) {
        const { egress } = await runScriptedAction(httpAction({ method }), [exchange])
        expect(egress.sent).toHaveLength(1)
        expect(egress.sent[0]?.headers).not.toHaveProperty('idempotency-key')
      }
  })
})

describe('HTTP actions that may not be sent', () => {
  it('an HTTP action to a forbidden address is denied', async () => {
    const { outcome, row, egress } = await runScriptedAction(posts, [{ unprepared: 'address_not_allowed' }])
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'policy_denied' })
    expect(row).toMatchObject({
      state: 'failed',
      decision: { decision: 'deny', reason: 'address_not_allowed', policy_version: '1' },
      send_attempts: 0,
    })
    expect(egress.sent).toEqual([])
  })

  it('an HTTP action with an invalid URL fails with bad_url', async () => {
    const { outcome, row } = await runScriptedAction(posts, [{ unprepared: 'bad_url' }])
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'bad_url' })
    expect(row).toMatchObject({ state: 'failed', decision: null, send_attempts: 0 })
  })

  it('an HTTP action fails before the send when a value would leave its path segment or the request is too large', async () => {
    const climbs = await runScriptedAction(httpAction({ url: 'https://shop.test/tables/{{id}}' }), [], {
      variables: { id: '..' },
    })
    expect([climbs.outcome.error_code, climbs.egress.prepared]).toEqual(['bad_url', 0])
    const long = await runScriptedAction(posts, [], { arguments: { text: 'a'.repeat(1_100_000) } })
    expect([long.outcome.error_code, long.egress.prepared]).toEqual(['request_too_large', 0])
  })

  it('a denial by the ledger overrides an allowed decision', async () => {
    const { outcome, egress } = await runScriptedAction(posts, [{ status: 200 }], {
      ledgerFaults: ledger => ({
        decide: id => ledger.decide(id, { decision: 'deny', reason: 'key_revoked', policy_version: '1' }),
      }),
    })
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'policy_denied' })
    expect(egress.sent).toEqual([])
  })
})

describe('authentication of HTTP actions', () => {
  const withAuth = (scheme: string, more = {}) =>
    httpAction({ auth: { scheme, secret: { id: 'key', version: '1' }, ...more }, headers: { Authorization: 'mine' } })

  it.each([
    ['bearer', { authorization: 'Bearer s3cret' }],
    ['basic', { authorization: `Basic ${Buffer.from('s3cret').toString('base64')}` }],
    ['header', { 'x-api-key': 's3cret', authorization: 'mine' }],
  ])(
    '%s authentication sends the secret and overrides a configured header of the same name',
    async (scheme, headers) => {
      const { egress } = await runScriptedAction(withAuth(scheme), [{ status: 200 }])
      expect(egress.sent[0]?.headers).toMatchObject(headers)
    },
  )

  it('header authentication sends the secret in the configured header', async () => {
    const { egress } = await runScriptedAction(withAuth('header', { header: 'X-Token' }), [{ status: 200 }])
    expect(egress.sent[0]?.headers).toMatchObject({ 'x-token': 's3cret' })
  })

  it('parley_signature authentication signs the time and the body', async () => {
    const { egress } = await runScriptedAction(withAuth('parley_signature'), [{ status: 200 }])
    const t = Date.UTC(2026, 2, 4, 12) / 1000
    const v1 = createHmac('sha256', 's3cret').update(`${t}.${egress.sent[0]!.body}`).digest('hex')
    expect(egress.sent[0]?.headers?.['parley-signature']).toBe(`t=${t},v1=${v1}`)
  })

  it('an HTTP action uses the pinned version of its secret and is denied without it', async () => {
    const requested: unknown[] = []
    const get = async (ref: unknown) => {
      requested.push(ref)
      return null
    }
    const { outcome, row, egress } = await runScriptedAction(withAuth('bearer'), [], { secrets: { get } })
    expect(requested).toEqual([{ id: 'key', version: '1' }])
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'policy_denied' })
    expect(row?.decision).toEqual({ decision: 'deny', reason: 'secret_missing', policy_version: '1' })
    expect(egress.prepared).toBe(0)
  })

  it.each([
    ['fail', () => Promise.reject(new Error('no database'))],
    ['never answer', () => new Promise<never>(() => {})],
    [
      'throw',
      () => {
        throw new Error('a fault')
      },
    ],
  ])('an HTTP action is not sent when its secrets %s', async (_, get) => {
    const { outcome, row, egress } = await runScriptedAction(withAuth('bearer'), [], { secrets: { get } })
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'policy_unavailable' })
    expect(row).toMatchObject({ state: 'failed', decision: { decision: 'unavailable', reason: null } })
    expect(egress.prepared).toBe(0)
  })
})
