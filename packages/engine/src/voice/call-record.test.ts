import { type Ms, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { afterEach, describe, expect, it } from 'vitest'
import { AudioHarness, find, lastAudible, speaks } from '../testing/audio-harness.ts'
import { GREETING, greeter } from '../testing/drafts.ts'

/** A packet. */
const PACKET_MS: Ms = 20

let stage: AudioHarness | null = null

async function greeted(): Promise<AudioHarness> {
  stage = await AudioHarness.open({ draft: greeter, answers: [speaks('Of course.')] })
  await stage.until(() => stage!.facts('state').length > 0, 3000, 'connected')
  await stage.pass(1500)
  return stage
}

afterEach(async () => {
  stage?.caller.hangUp()
  await stage?.pass(200)
  stage = null
})

function firstAudible(audio: Int16Array): Samples {
  return audio.findIndex(sample => Math.abs(sample) > 300)
}

/** Whether two moments of the call's clock are the same, but for `withinMs`. */
function expectNear(actual: Ms | null, expected: Ms, withinMs: Ms): void {
  expect(actual).not.toBeNull()
  expect(Math.abs(actual! - expected), `${actual} instead of ${expected} ms`).toBeLessThanOrEqual(withinMs)
}

/** Both channels of a call as its recording has them: on the sample clock of the agent's end. */
describe('what is written down of a call', () => {
  it("has the agent's words where they are in the recording", async () => {
    const call = await greeted()
    await call.until(() => call.facts('utterance').length === 1, 9000, 'heard out')
    const sound = call.voice.sound(GREETING)
    const begin = samplesToMs(find(call.line.b.captured().right, sound).at, NARROWBAND)
    const [greeting] = call.facts('utterance')
    expectNear(greeting!.start_ms, begin, PACKET_MS)
    expectNear(greeting!.end_ms, begin + samplesToMs(sound.length, NARROWBAND), PACKET_MS)
    // What happened when it was over was told when it was over.
    expectNear(greeting!.offset_ms, begin + samplesToMs(sound.length, NARROWBAND), 3 * PACKET_MS)
  })

  it("has an interruption, and the agent's last word before it, where the agent fell silent", async () => {
    const call = await greeted()
    call.says('please stop talking now')
    await call.until(() => call.facts('interruption').length === 1, 3000, 'interrupted')
    const silentFrom = samplesToMs(lastAudible(call.line.b.captured().right), NARROWBAND)
    const [greeting] = call.facts('utterance')
    const [interruption] = call.facts('interruption')
    expectNear(greeting!.end_ms, silentFrom, PACKET_MS)
    // It is one when words come, a little after the agent has stopped to listen.
    expect(interruption!.offset_ms).toBeGreaterThanOrEqual(silentFrom)
    expectNear(interruption!.offset_ms, silentFrom, 200)
  })

  it("has the caller's words where they are in the recording", async () => {
    const call = await greeted()
    await call.until(() => call.facts('utterance').length === 1, 9000, 'heard out')
    await call.pass(500)
    const ms = call.says('what does it cost')
    await call.until(() => call.facts('utterance').length === 2, 5000, 'understood')
    const begin = samplesToMs(firstAudible(call.line.b.captured().left), NARROWBAND)
    const said = call.facts('utterance')[1]!
    expect(said).toMatchObject({ role: 'user', text: 'what does it cost' })
    expectNear(said.start_ms, begin, 40)
    expectNear(said.end_ms, begin + ms, 60)
  })

  it('has digits where they were pressed, however long was waited for more', async () => {
    const call = await greeted()
    await call.until(() => call.facts('utterance').length === 1, 9000, 'heard out')
    call.caller.sendDigits('7')
    await call.until(() => call.facts('digits').length === 1, 6000, 'entered')
    const [pressed] = call.line.b.events.filter(event => event.type === 'digit')
    expectNear(call.facts('digits')[0]!.offset_ms, samplesToMs(pressed!.atSample, NARROWBAND), 120)
  })

  it('begins when the first packet of the caller comes', async () => {
    const call = await greeted()
    const [first] = call.line.b.events.filter(event => event.type === 'first-packet')
    expectNear(call.facts('state')[0]!.offset_ms, samplesToMs(first!.atSample, NARROWBAND), PACKET_MS)
  })
})
