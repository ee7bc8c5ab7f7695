import { NARROWBAND } from '@parley/kernel'
import { resample } from '@parley/media'
import { codecByName, loadOpus } from '@parley/media/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SpeechEvent } from '../../speech-to-text/speech-to-text.ts'
import { TonesRecogniser } from '../tones-recogniser.ts'
import { TonesVoice } from './tones-voice.ts'

const WORDS = 'I would like to book an appointment'
const FRAME = 320
const RATE = 16_000

const voice = new TonesVoice()
const recogniser = new TonesRecogniser()
beforeAll(loadOpus)
afterAll(() => Promise.all([voice.close(), recogniser.close()]))

async function spoken(): Promise<Int16Array> {
  const chunks: number[] = []
  const request = { text: WORDS, language: 'en', format: NARROWBAND }
  for await (const { samples } of voice.synthesize(request, new AbortController().signal)) chunks.push(...samples)
  return resample(Int16Array.from(chunks), NARROWBAND.sampleRateHz, RATE)
}

/** What arrives of the audio over Opus, for a peer with these parameters. */
function overOpus(audio: Int16Array, fmtp: string): Int16Array {
  const [encoder, decoder] = [codecByName('OPUS').createEncoder(fmtp), codecByName('OPUS').createDecoder()]
  const [packet, samples] = [new Uint8Array(1500), new Int16Array(6 * FRAME)]
  const arrived = new Int16Array(audio.length)
  for (let at = 0; at + FRAME <= audio.length; at += FRAME) {
    const bytes = encoder.encode(audio, at, FRAME, packet, 0)
    arrived.set(samples.subarray(0, decoder.decode(packet, 0, bytes, samples, 0)), at)
  }
  return arrived
}

function understood(wide: Int16Array): string {
  const stream = recogniser.open({ language: 'en', format: NARROWBAND })
  const finals: string[] = []
  stream.onEvent((event: SpeechEvent) => {
    if (event.type === 'final') finals.push(event.text)
  })
  stream.write(resample(wide, RATE, NARROWBAND.sampleRateHz), 0)
  stream.finalize()
  stream.close()
  return finals.join(' ').trim()
}

it.each([
  ['that asks for redundancy', 'minptime=10;useinbandfec=1'],
  ['that asks for none', 'minptime=10'],
])('every word arrives over Opus at a peer %s, wherever the packets begin in the sentence', async (_, fmtp) => {
  const says = await spoken()
  for (let shift = 0; shift < FRAME; shift += 53) {
    const audio = new Int16Array(RATE + says.length + RATE)
    audio.set(says, RATE + shift)
    expect(understood(overOpus(audio, fmtp))).toBe(WORDS)
  }
})
