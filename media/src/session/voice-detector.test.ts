import { describe, expect, it } from 'vitest'
import { SyntheticSound } from '../dsp/testing/synthetic-sound.ts'
import type { VoiceDetection, VoiceEdge } from './media-session.ts'
import { VirtualCall } from './testing/virtual-call.ts'

const BLOCK = 160
/** What a line of the simulated voice asks for. */
const BAND = { passHz: 2550, stopHz: 2880, stopbandDb: 55 }

interface Read {
  readonly edge: VoiceEdge
  /** Position up to which audio had been read when the edge was handed over. */
  readonly at: number
}

/** What the second end reads, block by block, while the first plays `sound`. */
async function edgesOf(sound: SyntheticSound, detection: VoiceDetection | null): Promise<Read[]> {
  const call = await VirtualCall.start({ suite: null })
  const { session } = call.b
  if (detection !== null) session.detectVoice(detection)
  call.a.session.play(sound.samples)
  const found: Read[] = []
  const block = new Int16Array(BLOCK)
  for (let ms = 0; ms < sound.samples.length / 8 + 500; ms += 20) {
    call.time.advance(20)
    while (session.readHeard(block) > 0) {
      for (let edge = session.nextVoiceEdge(); edge !== null; edge = session.nextVoiceEdge())
        found.push({ edge, at: session.heardPosition() })
    }
  }
  return found
}

describe('voice detection of a session', () => {
  it('edges of voice are delivered with the audio in which they were detected', async () => {
    const sound = new SyntheticSound(3000).vowel(1000, 2000, -20)
    const found = await edgesOf(sound, { hangoverMs: 80 })
    expect(found.map(({ edge }) => edge.type)).toEqual(['voice-start', 'voice-end'])
    const [start, end] = found
    expect((end!.edge.atSample - start!.edge.atSample) / 8).toBeGreaterThan(950)
    expect((end!.edge.atSample - start!.edge.atSample) / 8).toBeLessThan(1050)
    // An onset is known after 40 to 60 ms of voice, an end after the hangover; and never before its audio.
    expect((start!.at - start!.edge.atSample) / 8).toBeLessThan(100)
    expect((end!.at - end!.edge.atSample) / 8).toBeGreaterThanOrEqual(70)
    expect((end!.at - end!.edge.atSample) / 8).toBeLessThan(120)
  })

  it('no voice is detected before detection is enabled', async () => {
    expect(await edgesOf(new SyntheticSound(2000).vowel(500, 1500, -20), null)).toEqual([])
  })

  it('a speech band ignores tones that continue after the voice', async () => {
    const sound = new SyntheticSound(4000).vowel(1000, 2000, -20)
    for (let ms = 1000; ms < 2600; ms += 50) sound.tones(ms, ms + 40, -35 - ((ms / 50) % 3) * 3, 3000, 3150)
    const ends = async (detection: VoiceDetection) => {
      const found = await edgesOf(sound, { hangoverMs: 80, ...detection })
      const start = found[0]!.edge.atSample
      return (found[1]!.edge.atSample - start) / 8
    }
    expect(await ends({ band: BAND })).toBeLessThan(1080)
    expect(await ends({})).toBeGreaterThan(1300)
  })
})
