import { describe, expect, it, onTestFinished } from 'vitest'
import type { EffectIntent, EffectLedger, EffectRecord, PolicyDecision, Receipt } from '../ledger.ts'

interface LedgerUnderTest {
  readonly ledger: EffectLedger
  /** In order of creation. */
  list(): Promise<readonly EffectRecord[]>
  close(): Promise<void>
}

const HTTP: EffectIntent = { kind: 'http', action: { id: 'book', version: 3 }, node_id: 'booking', ordinal: 0 }
const INFERENCE: EffectIntent = {
  kind: 'gateway_inference',
  action: { id: 'model.infer', version: 1 },
  node_id: 'greeting',
  ordinal: null,
}
const ALLOW: PolicyDecision = { decision: 'allow', reason: null, policy_version: '1' }
const DENY: PolicyDecision = { decision: 'deny', reason: 'address_not_allowed', policy_version: '1' }
const UNAVAILABLE: PolicyDecision = { decision: 'unavailable', reason: null, policy_version: '1' }
const RECEIPT: Receipt = {
  kind: 'http',
  status: 200,
  response_sha256: 'a'.repeat(64),
  response_bytes: 12,
  duration_ms: 80,
  send_attempt: 1,
}

/** What every ledger of effects must do. `make` gives a fresh, empty one. */
export function effectLedgerConformance(name: string, make: () => LedgerUnderTest | Promise<LedgerUnderTest>): void {
  const open = async (): Promise<LedgerUnderTest> => {
    const opened = await make()
    onTestFinished(() => opened.close())
    return opened
  }
  describe(`the ledger ${name}`, () => {
    intends(open)
    decides(open)
    sends(open)
    settles(open)
    refuses(open)
  })
}

type Open = () => Promise<LedgerUnderTest>

function intends(open: Open): void {
  it('an intended effect is recorded before it is done', async () => {
    const { ledger, list } = await open()
    const effect = await ledger.intend(HTTP)
    expect(effect).toEqual({
      effect_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      effect_key: expect.stringMatching(/^[\x21-\x7e]{1,256}$/),
      action: { id: 'book', version: 3 },
      effect_kind: 'http',
      node_id: 'booking',
      ordinal: 0,
      state: 'intended',
      decision: null,
      send_attempts: 0,
      receipts: [],
      error_code: null,
      created_at: expect.stringMatching(ISO_TIME),
      settled_at: null,
    })
    expect(await list()).toEqual([effect])
  })

  it('effects are listed in order of creation, whatever their state', async () => {
    const { ledger, list } = await open()
    const effects = []
    for (let ordinal = 0; ordinal < 20; ordinal++) effects.push(await ledger.intend({ ...HTTP, ordinal }))
    await ledger.decide(effects[7]!.effect_id, DENY)
    await ledger.decide(effects[3]!.effect_id, ALLOW)
    expect((await list()).map(effect => effect.ordinal)).toEqual(effects.map(effect => effect.ordinal))
  })

  it('every effect has a unique id and key, also when effects are created concurrently', async () => {
    const { ledger } = await open()
    const effects = await Promise.all(Array.from({ length: 50 }, () => ledger.intend(HTTP)))
    expect(new Set(effects.map(effect => effect.effect_id)).size).toBe(50)
    expect(new Set(effects.map(effect => effect.effect_key)).size).toBe(50)
  })
}

function decides(open: Open): void {
  it('an allow decision is stored, and the effect stays intended', async () => {
    const { ledger } = await open()
    const { effect_id } = await ledger.intend(HTTP)
    const effect = await ledger.decide(effect_id, ALLOW)
    expect(effect).toMatchObject({ effect_id, state: 'intended', decision: ALLOW, settled_at: null, error_code: null })
  })

  it('a deny decision settles the effect as failed with policy_denied', async () => {
    const { ledger, list } = await open()
    const { effect_id } = await ledger.intend(HTTP)
    const effect = await ledger.decide(effect_id, DENY)
    expect(effect).toMatchObject({ state: 'failed', decision: DENY, error_code: 'policy_denied', send_attempts: 0 })
    expect(effect.settled_at).toMatch(ISO_TIME)
    expect(await list()).toEqual([effect])
  })

  it('an unavailable decision settles the effect as failed with policy_unavailable', async () => {
    const { ledger } = await open()
    const { effect_id } = await ledger.intend(HTTP)
    const effect = await ledger.decide(effect_id, UNAVAILABLE)
    expect(effect).toMatchObject({ state: 'failed', decision: UNAVAILABLE, error_code: 'policy_unavailable' })
  })
}

function sends(open: Open): void {
  it('each send raises send_attempts and keeps the effect key', async () => {
    const { ledger } = await open()
    const { effect_id, effect_key } = await ledger.intend(HTTP)
    await ledger.decide(effect_id, ALLOW)
    expect(await ledger.sending(effect_id)).toMatchObject({ state: 'sending', send_attempts: 1, effect_key })
    expect(await ledger.sending(effect_id)).toMatchObject({ state: 'sending', send_attempts: 2, effect_key })
  })

  it('an inference is sent without a policy decision', async () => {
    const { ledger } = await open()
    const { effect_id } = await ledger.intend(INFERENCE)
    expect(await ledger.sending(effect_id)).toMatchObject({ state: 'sending', decision: null })
    expect(await ledger.settle(effect_id, { state: 'succeeded' })).toMatchObject({ state: 'succeeded' })
  })
}

function settles(open: Open): void {
  it.each(['succeeded', 'failed', 'uncertain'] as const)(
    'the receipts of a sent effect are stored with the outcome %s',
    async state => {
      const { ledger, list } = await open()
      const { effect_id } = await ledger.intend(HTTP)
      await ledger.decide(effect_id, ALLOW)
      await ledger.sending(effect_id)
      const error_code = state === 'succeeded' ? null : 'http_404'
      const effect = await ledger.settle(effect_id, { state, receipts: [RECEIPT], error_code })
      expect(effect).toMatchObject({ state, receipts: [RECEIPT], error_code, send_attempts: 1, decision: ALLOW })
      expect(effect.settled_at).toMatch(ISO_TIME)
      expect(await list()).toEqual([effect])
    },
  )

  it('an effect that was never sent can be settled as failed', async () => {
    const { ledger } = await open()
    const { effect_id } = await ledger.intend(HTTP)
    const effect = await ledger.settle(effect_id, { state: 'failed', error_code: 'not_connected' })
    expect(effect).toMatchObject({ state: 'failed', error_code: 'not_connected', send_attempts: 0, receipts: [] })
  })
}

type Step = (ledger: EffectLedger, effectId: string) => Promise<unknown>

const allow: Step = (ledger, id) => ledger.decide(id, ALLOW)
const deny: Step = (ledger, id) => ledger.decide(id, DENY)
const send: Step = (ledger, id) => ledger.sending(id)
const succeed: Step = (ledger, id) => ledger.settle(id, { state: 'succeeded' })
const fail: Step = (ledger, id) => ledger.settle(id, { state: 'failed' })
const doubt: Step = (ledger, id) => ledger.settle(id, { state: 'uncertain' })

const OUT_OF_ORDER: readonly (readonly [what: string, before: readonly Step[], step: Step])[] = [
  ['a send without a decision', [], send],
  ['a second decision', [allow], allow],
  ['a denial after an approval', [allow], deny],
  ['a decision on an effect that is being sent', [allow, send], deny],
  ['a send of a denied effect', [deny], send],
  ['success of an effect that was never sent', [allow], succeed],
  ['uncertainty about an effect that was never sent', [allow], doubt],
  ['a send of an effect that has succeeded', [allow, send, succeed], send],
  ['a send of an uncertain effect', [allow, send, doubt], send],
  ['a send of a failed effect', [allow, send, fail], send],
  ['success of an uncertain effect', [allow, send, doubt], succeed],
  ['failure of an effect that has succeeded', [allow, send, succeed], fail],
  ['failure of a denied effect', [deny], fail],
]

function refuses(open: Open): void {
  it.each(OUT_OF_ORDER)('%s is refused and changes nothing', async (_, before, step) => {
    const { ledger, list } = await open()
    const { effect_id } = await ledger.intend(HTTP)
    for (const earlier of before) await earlier(ledger, effect_id)
    const rows = await list()
    await expect(step(ledger, effect_id)).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
    expect(await list()).toEqual(rows)
  })

  it('a step of an unknown effect is refused with effect_not_found', async () => {
    const { ledger } = await open()
    const unknown = '00000000-0000-4000-8000-000000000000'
    for (const step of [allow, send, succeed])
      await expect(step(ledger, unknown)).rejects.toMatchObject({ code: 'effect_not_found' })
  })

  it('one of two concurrent decisions is accepted', async () => {
    const { ledger } = await open()
    const { effect_id } = await ledger.intend(HTTP)
    const verdicts = await Promise.allSettled([ledger.decide(effect_id, ALLOW), ledger.decide(effect_id, DENY)])
    expect(verdicts.filter(verdict => verdict.status === 'fulfilled')).toHaveLength(1)
  })
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
