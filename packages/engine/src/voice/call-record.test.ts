import { type Ms, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { afterEach, describe, expect, it } from 'vitest'
import { AudioHarness, find, lastAudible, speaks } from '../testing/audio-harness.ts'
import { GREETING, greeter } from '../testing/drafts.ts'

/** Duration of a packet. */
const PACKET_MS: Ms = 20

let stage: AudioHarness | null = null

async function greeted(): Promise<AudioHarness> {
  stage = await AudioHarness.open({ draft: greeter, answers: [speaks('Of course.')] })
  await stage.until(() => stage!.timeline('state').length > 0, 3000, 'connected')
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

/** Expects two times on the call's clock to differ by at most `withinMs`. */
function expectNear(actual: Ms | null, expected: Ms, withinMs: Ms): void {
  expect(actual).not.toBeNull()
  expect(Math.abs(actual! - expected), `${actual} instead of ${expected} ms`).toBeLessThanOrEqual(withinMs)
}

/** Times in the record refer to the sample clock of the agent's end, as the recording does. */
describe('the record of a call, compared with its recording', () => {
  it("times the agent's utterance as in the recording", async () => {
    const call = await greeted()
    await call.until(() => call.timeline('utterance').length === 1, 9000, 'heard out')
    const sound = call.voice.sound(GREETING)
    const begin = samplesToMs(find(call.line.b.captured().right, sound).at, NARROWBAND)
    const [greeting] = call.timeline('utterance')
    expectNear(greeting!.start_ms, begin, PACKET_MS)
    expectNear(greeting!.end_ms, begin + samplesToMs(sound.length, NARROWBAND), PACKET_MS)
    // The item itself is dated at the end of the utterance.
    expectNear(greeting!.offset_ms, begin + samplesToMs(sound.length, NARROWBAND), 3 * PACKET_MS)
  })

  it("times an interruption and the end of the agent's utterance where the agent fell silent", async () => {
    const call = await greeted()
    call.says('please stop talking now')
    await call.until(() => call.timeline('interruption').length === 1, 3000, 'interrupted')
    const silentFrom = samplesToMs(lastAudible(call.line.b.captured().right), NARROWBAND)
    const [greeting] = call.timeline('utterance')
    const [interruption] = call.timeline('interruption')
    expectNear(greeting!.end_ms, silentFrom, PACKET_MS)
    // The interruption is confirmed by words, shortly after the agent has paused.
    expect(interruption!.offset_ms).toBeGreaterThanOrEqual(silentFrom)
    expectNear(interruption!.offset_ms, silentFrom, 200)
  })

  it("times the caller's utterance as in the recording", async () => {
    const call = await greeted()
    await call.until(() => call.timeline('utterance').length === 1, 9000, 'heard out')
    await call.pass(500)
    const ms = call.says('what does it cost')
    await call.until(() => call.timeline('utterance').length === 2, 5000, 'understood')
    const begin = samplesToMs(firstAudible(call.line.b.captured().left), NARROWBAND)
    const said = call.timeline('utterance')[1]!
    expect(said).toMatchObject({ role: 'user', text: 'what does it cost' })
    expectNear(said.start_ms, begin, 40)
    expectNear(said.end_ms, begin + ms, 60)
  })

  it('times digits when they were pressed, not at the end of the wait for more', async () => {
    const call = await greeted()
    await call.until(() => call.timeline('utterance').length === 1, 9000, 'heard out')
    call.caller.sendDigits('7')
    await call.until(() => call.timeline('digits').length === 1, 6000, 'entered')
    const [pressed] = call.line.b.events.filter(event => event.type === 'digit')
    expectNear(call.timeline('digits')[0]!.offset_ms, samplesToMs(pressed!.atSample, NARROWBAND), 120)
  })

  it('the record of a call begins with the first packet of the caller', async () => {
    const call = await greeted()
    const [first] = call.line.b.events.filter(event => event.type === 'first-packet')
    expectNear(call.timeline('state')[0]!.offset_ms, samplesToMs(first!.atSample, NARROWBAND), PACKET_MS)
  })
})
