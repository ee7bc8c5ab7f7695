import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Endpoint, type LegEnd, parseUri, type SipUri } from '@parley/leg'
import { TonesRecogniser } from '@parley/providers'
import { ProviderError } from '@parley/providers/testing'
import { ensureLocalCertificate } from '@parley/sip'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type AnsweredCall, AnsweringPhone, type AnsweringPhoneOptions } from './answering-phone.ts'
import type { CallerStep } from './caller/caller-step.ts'
import { CallerScript } from './caller-script.ts'
import { readyVoice } from './phone-line.fixture.ts'
import { PhoneVoice } from './phone-voice.ts'
import { type PhoneDial, VirtualPhone } from './virtual-phone.ts'

const NUMBER = '+12025550143'
const CREDENTIALS = { username: 'parley', password: 'an-open-secret' }

let home: string
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-phone-'))
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(() => rm(home, { recursive: true }))

async function endpoint() {
  const rtp = { ports: { from: 24_000, to: 24_499 }, threads: 1, packetIo: 'portable' } as const
  return { tls: await ensureLocalCertificate(home), userAgentName: 'test', rtp }
}

function scriptOf(steps: readonly CallerStep[]): Promise<CallerScript> {
  return CallerScript.prepare(
    steps,
    new PhoneVoice(
      readyVoice(() => new Int16Array(800)),
      'en',
    ),
  )
}

/** Opens a phone whose default script waits silently for the far end to hang up. */
async function open(options: Partial<AnsweringPhoneOptions> = {}) {
  const calls: AnsweredCall[] = []
  const phone = await AnsweringPhone.open({
    endpoint: await endpoint(),
    realm: 'phone.localhost',
    credentials: CREDENTIALS,
    scriptFor: number => (number === NUMBER ? scriptOf([{ type: 'hung-up' }]) : null),
    recogniser: new TonesRecogniser(),
    language: 'en',
    onCall: call => calls.push(call),
    ...options,
  })
  closers.push(() => phone.close())
  return { phone, calls, uri: (number = NUMBER) => `sip:${number}@localhost:${phone.port};transport=tls` }
}

async function caller(): Promise<VirtualPhone> {
  const phone = await VirtualPhone.open({ endpoint: await endpoint(), name: 'caller' })
  closers.push(() => phone.close())
  return phone
}

async function endOf(from: VirtualPhone, uri: string, dial: PhoneDial = {}): Promise<LegEnd> {
  return (await from.call(uri, dial)).ended
}

describe('a phone behind a trunk', () => {
  it('a phone behind a trunk answers 401 to a call without the right username and password', async () => {
    const { uri, calls } = await open()
    const from = await caller()
    expect(await endOf(from, uri())).toMatchObject({ answered: false, sipStatus: 401 })
    const wrong = [
      { ...CREDENTIALS, password: 'a guess' },
      { ...CREDENTIALS, username: 'somebody' },
    ]
    for (const credentials of wrong)
      expect(await endOf(from, uri(), { credentials })).toMatchObject({ answered: false, sipStatus: 401 })
    expect(calls).toEqual([])
  })

  it('a phone behind a trunk answers 401 for a missing number without credentials, and 404 with them', async () => {
    const { uri } = await open()
    const from = await caller()
    expect((await endOf(from, uri('+12025550199'))).sipStatus).toBe(401)
    expect((await endOf(from, uri('+12025550199'), { credentials: CREDENTIALS })).sipStatus).toBe(404)
  })

  it('a phone behind a trunk answers 488 to a call with plain RTP', async () => {
    const { uri, phone } = await open()
    const from = await caller()
    const dial = { credentials: CREDENTIALS, security: 'rtp-only' } as const
    expect(await endOf(from, uri(), dial)).toMatchObject({ answered: false, sipStatus: 488 })
    expect(phone.calls).toBe(0)
  })

  it('a phone behind a trunk cannot be reached over TCP', async () => {
    const { phone } = await open()
    const plain = await Endpoint.open({
      ...(await endpoint()),
      guard: () => ({ action: 'drop' }),
      onInvite: () => {},
    })
    closers.push(() => plain.close())
    const outcome = plain.userAgent.invite({
      uri: parseUri(`sip:${NUMBER}@127.0.0.1:${phone.port};transport=tcp`) as SipUri,
      from: { displayName: undefined, uri: parseUri('sip:caller@127.0.0.1')!, params: new Map() },
      ringTimeoutMs: 1000,
    })
    const ended = await new Promise<number>(resolve =>
      outcome.onEvent(event => event.type === 'ended' && resolve(event.end.status)),
    )
    expect([408, 487, 503]).toContain(ended)
  })

  it('a phone accepts calls up to its limit, reports caller and number of each, and answers 486 beyond it until one ends', async () => {
    const { uri, calls, phone } = await open({ maxCalls: 2 })
    const from = await caller()
    const dial = { credentials: CREDENTIALS }
    const talking = [await from.call(uri(), dial), await from.call(uri(), dial)]
    await Promise.all(talking.map(call => call.waitFor('answered', 60_000)))
    const known = { number: NUMBER, from: 'caller', transport: { signalling: 'tls', media: 'srtp' } }
    expect(calls).toMatchObject([known, known])
    expect((await endOf(from, uri(), dial)).sipStatus).toBe(486)
    await talking[0]!.hangUp()
    const { end, failure } = await calls.find(({ callId }) => callId === talking[0]!.leg.callId)!.ended
    expect({ cause: end.cause, by: end.by, failure }).toEqual({ cause: 'bye', by: 'remote', failure: null })
    await expect.poll(() => phone.calls).toBe(1)
    await (await from.call(uri(), dial)).waitFor('answered', 60_000)
  })

  it('a phone hangs up when a step of its script fails, and reports the failure', async () => {
    const { uri, calls } = await open({
      scriptFor: () => scriptOf([{ type: 'hear', pattern: 'anything', withinMs: 200 }]),
    })
    const call = await (await caller()).call(uri(), { credentials: CREDENTIALS })
    expect(await call.ended).toMatchObject({ answered: true, cause: 'bye', by: 'remote' })
    expect((await calls[0]!.ended).failure).toMatchObject({ code: 'script_failed' })
  })

  it('a phone hangs up a call that exceeds the maximum duration', async () => {
    const { uri, calls } = await open({ maxCallMs: 400 })
    const call = await (await caller()).call(uri(), { credentials: CREDENTIALS })
    expect(await call.ended).toMatchObject({ answered: true, by: 'remote' })
    expect((await calls[0]!.ended).end.by).toBe('local')
  })

  it('a phone rings while its script loads, and answers 480 when loading fails', async () => {
    const prepared = Promise.withResolvers<CallerScript>()
    const { uri } = await open({ scriptFor: () => prepared.promise })
    const call = await (await caller()).call(uri(), { credentials: CREDENTIALS })
    await call.waitFor('ringing', 60_000)
    prepared.reject(new ProviderError('voice_failed', 'no voice today', { retryable: false }))
    expect(await call.ended).toMatchObject({ answered: false, sipStatus: 480 })
  })

  it('a caller who hangs up while the phone rings frees the place of the call', async () => {
    const prepared = Promise.withResolvers<CallerScript>()
    const { uri, calls, phone } = await open({ scriptFor: () => prepared.promise })
    const call = await (await caller()).call(uri(), { credentials: CREDENTIALS })
    await call.waitFor('ringing', 60_000)
    expect((await call.hangUp()).cause).toBe('cancelled')
    await expect.poll(() => phone.calls).toBe(0)
    prepared.resolve(await scriptOf([{ type: 'hung-up' }]))
    expect((await calls[0]!.ended).failure).toMatchObject({ code: 'call_ended' })
  })

  it('a phone that is closed hangs up all calls', async () => {
    const { uri, phone } = await open()
    const call = await (await caller()).call(uri(), { credentials: CREDENTIALS })
    await call.waitFor('answered', 60_000)
    await phone.close()
    expect(await call.ended).toMatchObject({ cause: 'bye', by: 'remote' })
  })
})
