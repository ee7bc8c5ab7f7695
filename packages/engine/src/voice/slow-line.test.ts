import { msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { afterEach, describe, expect, it } from 'vitest'
import { AudioHarness, find, type HarnessOptions } from '../testing/audio-harness.ts'
import { farewell, GREETING, greeter } from '../testing/drafts.ts'
import { likeness } from '../testing/sounds.ts'

let stage: AudioHarness | null = null

async function open(options: HarnessOptions): Promise<AudioHarness> {
  stage = await AudioHarness.open(options)
  return stage
}

afterEach(async () => {
  stage?.caller.hangUp()
  await stage?.pass(1000)
  stage = null
})

/** When the caller hears the greeting begin, in ms after they dialled and opened their media. */
async function greetedAt(call: AudioHarness): Promise<Samples> {
  await call.pass(3000)
  const { at, likeness: sure } = find(call.heard(), call.voice.sound(GREETING))
  expect(sure).toBeGreaterThan(0.95)
  return at
}

describe('on a line where media is slower than signalling', () => {
  const latency = { signallingMs: 10, soundMs: 150 }

  it('the greeting waits for the first packet of the caller', async () => {
    // The caller's first packet arrives 150 ms after the answer, and the greeting takes 150 ms back.
    expect(await greetedAt(await open({ draft: greeter, latency }))).toBeGreaterThan(msToSamples(320, NARROWBAND))
  })

  it('a caller who sends no media is greeted after a timeout', async () => {
    const call = await open({ draft: greeter, latency })
    call.line.packets.onSend = (from, _packet, _length, ipv4) => {
      if (from.ipv4 < ipv4) call.line.packets.setConditions({ latencyMs: 150, loss: 1 })
      else call.line.packets.setConditions({ latencyMs: 150 })
    }
    const at = await greetedAt(call)
    expect(at).toBeGreaterThan(msToSamples(400, NARROWBAND))
    expect(at).toBeLessThan(msToSamples(800, NARROWBAND))
  })

  it('the last word arrives before the BYE', async () => {
    const words = 'Thank you for calling and goodbye.'
    const call = await open({ draft: farewell(words), latency })
    await call.until(() => call.report !== null, 8000, 'ended')
    const sound = call.voice.sound(words)
    const { at } = find(call.heard(), sound)
    const heard = call.heard().subarray(at, at + sound.length)
    expect(heard.length).toBe(sound.length)
    expect(likeness(heard.subarray(-800), sound.subarray(-800))).toBeGreaterThan(0.95)
  })
})

describe('on a line where signalling is slower than media', () => {
  it('a caller whose media overtakes the ACK is greeted when the ACK arrives', async () => {
    const latency = { signallingMs: 300, soundMs: 20 }
    const call = await open({ draft: greeter, latency })
    const at = await greetedAt(call)
    const ack = call.line.signalling.passed.find(({ text }) => text.startsWith('ACK'))!
    const greetable = ack.at + latency.signallingMs + latency.soundMs
    expect(at).toBeGreaterThanOrEqual(msToSamples(greetable, NARROWBAND))
    expect(at).toBeLessThan(msToSamples(greetable + 100, NARROWBAND))
  })
})
