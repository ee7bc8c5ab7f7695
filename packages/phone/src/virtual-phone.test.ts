import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureLocalCertificate } from '@parley/sip'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type PhoneOptions, VirtualPhone } from './virtual-phone.ts'

/** A call over TLS with SRTP, whose media thread starts, on a machine that others use as well. */
const ANSWER_TIMEOUT_MS = 30_000

let home: string
const phones: VirtualPhone[] = []
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-phone-'))
})
afterEach(() => Promise.all(phones.splice(0).map(phone => phone.close())))
afterAll(() => rm(home, { recursive: true }))

async function open(options: Partial<PhoneOptions> = {}): Promise<VirtualPhone> {
  const phone = await VirtualPhone.open({
    endpoint: {
      tls: await ensureLocalCertificate(home),
      userAgentName: 'test',
      rtp: { ports: { from: 23_000, to: 23_999 }, threads: 1, packetIo: 'portable' },
    },
    ...options,
  })
  phones.push(phone)
  return phone
}

describe('inbound calls that wait for nextCall()', () => {
  it('inbound calls that wait for nextCall() are answered up to the limit, and the next one gets 486', async () => {
    const phone = await open({ maxWaitingCalls: 2 })
    const caller = await open()
    const first = await caller.call(phone.uri())
    await first.waitFor('answered', ANSWER_TIMEOUT_MS)
    await (await caller.call(phone.uri())).waitFor('answered', ANSWER_TIMEOUT_MS)
    const refused = await caller.call(phone.uri())
    expect(await refused.ended).toMatchObject({ cause: 'rejected', sipStatus: 486 })
    // A call returned by nextCall() frees its place.
    expect((await phone.nextCall()).leg.callId).toBe(first.leg.callId)
    await (await caller.call(phone.uri())).waitFor('answered', ANSWER_TIMEOUT_MS)
  })

  it('an inbound call that ends while it waits for nextCall() frees its place', async () => {
    const phone = await open({ maxWaitingCalls: 1 })
    const caller = await open()
    for (let i = 0; i < 3; i++) {
      const call = await caller.call(phone.uri())
      await call.waitFor('answered', ANSWER_TIMEOUT_MS)
      await call.hangUp()
    }
    const last = await phone.nextCall()
    expect((await last.ended).cause).toBe('bye')
  })

  it('an inbound call does not count towards the limit while nextCall() is pending', async () => {
    const phone = await open({ maxWaitingCalls: 0 })
    const caller = await open()
    const taken = phone.nextCall()
    const call = await caller.call(phone.uri())
    expect((await taken).leg.callId).toBe(call.leg.callId)
    expect((await (await caller.call(phone.uri())).ended).sipStatus).toBe(486)
  })
})
