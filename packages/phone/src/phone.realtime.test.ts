import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { ensureLocalCertificate } from '@parley/sip'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CallerScript } from './caller-script.ts'
import { PhoneVoice } from './phone-voice.ts'
import { VirtualPhone } from './virtual-phone.ts'

const QUESTION = 'Good morning, who is calling?'
const ANSWER = 'My name is Anna Miller.'

let home: string
const voice = new TonesVoice()
const phones: VirtualPhone[] = []
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-phone-'))
})
afterAll(async () => {
  await Promise.all(phones.map(phone => phone.close()))
  await voice.close()
  await rm(home, { recursive: true })
})

async function open(): Promise<VirtualPhone> {
  const tls = await ensureLocalCertificate(home)
  const rtp = { ports: { from: 22_000, to: 22_999 }, threads: 1 }
  const phone = await VirtualPhone.open({ station: { tls, rtp, userAgentName: 'test' } })
  phones.push(phone)
  return phone
}

describe('two phones over TLS and SRTP', () => {
  it('talk to each other, each by what came down the line', async () => {
    const [caller, called] = [await open(), await open()]
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
    const here = await caller.call(called.uri())
    const there = await called.nextCall()
    for (const call of [here, there]) call.understand(new TonesRecogniser(), 'en')
    await Promise.all([answering.follow(here), asking.follow(there)])
    expect(here.heardLines.map(line => line.text)).toEqual([QUESTION])
    expect(there.heardLines.map(line => line.text)).toEqual([ANSWER])
  })
})
