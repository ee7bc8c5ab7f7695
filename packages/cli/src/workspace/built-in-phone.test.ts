import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EndpointOptions, ensureLocalCertificate } from '@parley/leg'
import { VirtualPhone } from '@parley/phone'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { overridesOf } from '../resolve-entries.ts'
import { type BuiltInPhone, builtInPhone, PHONE_HOST, PHONE_USERNAME, phonePassword } from './built-in-phone.ts'

const rtpPorts = { from: 24_500, to: 24_999 }

let home: string
const closers: (() => Promise<void>)[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-home-'))
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await rm(home, { recursive: true })
})

async function opened(): Promise<BuiltInPhone> {
  const phone = await builtInPhone({ home, rtpPorts, packetIo: 'portable' })
  closers.push(() => phone.close())
  return phone
}

/** A caller that has only its own certificate and the phone's override. */
async function openCaller({ override }: BuiltInPhone): Promise<VirtualPhone> {
  const own = await ensureLocalCertificate(join(home, 'caller'))
  const caByName = new Map([[override.name, await readFile(override.caFile!, 'utf8')]])
  const endpoint: Omit<EndpointOptions, 'guard' | 'onInvite'> = {
    tls: { ...own, caByName },
    overrides: overridesOf([override]),
    rtp: { ports: rtpPorts, threads: 1, packetIo: 'portable' },
    userAgentName: 'test',
  }
  const phone = await VirtualPhone.open({ endpoint })
  closers.push(() => phone.close())
  return phone
}

// Its speech is synthesised at the first call: seconds of work on a busy machine.
describe('the built-in phone', () => {
  it('the phone answers its number under the name of its trunk to a caller with the password of the home', async () => {
    const phone = await opened()
    const caller = await openCaller(phone)
    const target = `sip:${phone.number}@${PHONE_HOST};transport=tls`
    expect((await (await caller.call(target)).ended).sipStatus).toBe(401)
    const credentials = { username: PHONE_USERNAME, password: await phonePassword(home) }
    const call = await caller.call(target, { credentials })
    await call.waitFor('answered', 60_000)
    expect(call.leg.transport).toEqual({ signalling: 'tls', media: 'srtp' })
    await call.hangUp()
    const other = await caller.call(target.replace(phone.number, '+12025550142'), { credentials })
    expect((await other.ended).sipStatus).toBe(404)
  })

  it('the phone keeps its password and certificate authority across restarts', async () => {
    const first = await opened()
    const [password, authority] = [await phonePassword(home), await readFile(first.override.caFile!, 'utf8')]
    await first.close()
    const second = await opened()
    expect([await phonePassword(home), await readFile(second.override.caFile!, 'utf8')]).toEqual([password, authority])
  })
})
