import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { ensureLocalCertificate } from '@parley/sip'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AnsweringPhone } from './answering-phone.ts'
import { CallerScript } from './caller-script.ts'
import { PhoneVoice } from './phone-voice.ts'
import { VirtualPhone } from './virtual-phone.ts'

const QUESTION = 'Good morning, who is calling?'
const ANSWER = 'My name is Anna Miller.'

let home: string
const voice = new TonesVoice()
const phones: { close(): Promise<void> }[] = []
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-phone-'))
})
afterAll(async () => {
  await Promise.all(phones.map(phone => phone.close()))
  await voice.close()
  await rm(home, { recursive: true })
})

async function endpoint() {
  // No ports of the peers of other tests (interop/ports.ts), which are found free before they are bound.
  const rtp = { ports: { from: 20_500, to: 20_999 }, threads: 1 }
  return { tls: await ensureLocalCertificate(home), rtp, userAgentName: 'test' }
}

async function open(): Promise<VirtualPhone> {
  const phone = await VirtualPhone.open({ endpoint: await endpoint() })
  phones.push(phone)
  return phone
}

describe('two phones over TLS and SRTP', () => {
  it('two phones converse over TLS and SRTP, each by what its recogniser hears', async () => {
    const [caller, callee] = [await open(), await open()]
    const speaker = new PhoneVoice(voice, 'en')
    const asking = await CallerScript.prepare(
      [{ type: 'say', text: QUESTION }, { type: 'hear', pattern: 'Miller' }, { type: 'quiet' }, { type: 'hang-up' }],
      speaker,
    )
    const answering = await CallerScript.prepare(
      [
        { type: 'hear', pattern: /who is calling/ },
        { type: 'quiet' },
        { type: 'say', text: ANSWER },
        { type: 'hung-up' },
      ],
      speaker,
    )
    const outbound = await caller.call(callee.uri())
    const inbound = await callee.nextCall()
    for (const call of [outbound, inbound]) call.setRecogniser(new TonesRecogniser(), 'en')
    await Promise.all([answering.follow(outbound), asking.follow(inbound)])
    expect(outbound.heardLines.map(line => line.text)).toEqual([QUESTION])
    expect(inbound.heardLines.map(line => line.text)).toEqual([ANSWER])
  })
})

describe('a phone behind a trunk', () => {
  it('a phone behind a trunk follows its script on two authenticated calls at once and reports what it heard on each', async () => {
    const credentials = { username: 'parley', password: 'an-open-secret' }
    const speaker = new PhoneVoice(voice, 'en')
    const script = CallerScript.prepare(
      [
        { type: 'hear', pattern: /who is calling/ },
        { type: 'quiet' },
        { type: 'say', text: ANSWER },
        { type: 'hung-up' },
      ],
      speaker,
    )
    const heard: Promise<string[]>[] = []
    const called = await AnsweringPhone.open({
      endpoint: await endpoint(),
      realm: 'phone.localhost',
      credentials,
      scriptFor: () => script,
      recogniser: new TonesRecogniser(),
      language: 'en',
      onCall: call => heard.push(call.ended.then(() => call.heardLines.map(({ text }) => text))),
    })
    phones.push(called)
    const asking = await CallerScript.prepare(
      [
        { type: 'say', text: QUESTION },
        { type: 'hear', pattern: 'Miller', withinMs: 15_000 },
        { type: 'quiet' },
        { type: 'hang-up' },
      ],
      speaker,
    )
    const caller = await open()
    const ask = async () => {
      const call = await caller.call(`sip:1@localhost:${called.port};transport=tls`, { credentials })
      call.setRecogniser(new TonesRecogniser(), 'en')
      await asking.follow(call)
      return call.heardLines.map(({ text }) => text)
    }
    expect(await Promise.all([ask(), ask()])).toEqual([[ANSWER], [ANSWER]])
    expect(await Promise.all(heard)).toEqual([[QUESTION], [QUESTION]])
  })
})
