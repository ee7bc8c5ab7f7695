import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../errors.ts'
import { MuLawDecoder } from './audio-decoder.ts'
import { ServiceUtterance, type VoiceBudgets } from './service-utterance.ts'
import type { SpeechChunk } from './text-to-speech.ts'

function begin(budgets: VoiceBudgets = {}) {
  const time = new VirtualTime()
  const utterance = new ServiceUtterance({ text: 'one two three', decoder: new MuLawDecoder(), time, budgets })
  const chunks: SpeechChunk[] = []
  const outcome: { error: unknown } = { error: 'none yet' }
  const ended = (async () => {
    for await (const chunk of utterance.chunks()) chunks.push(chunk)
  })().then(
    () => {
      outcome.error = null
    },
    error => {
      outcome.error = error
    },
  )
  return { time, utterance, chunks, ended, outcome }
}

/** Milliseconds of mu-law. */
const audio = (ms: number) => new Uint8Array(8 * ms).fill(0x55)
const settled = () => new Promise(resolve => setImmediate(resolve))

describe('an utterance from a voice service', () => {
  it('an utterance from a voice service fails when no audio comes within five seconds', async () => {
    const { time, ended, outcome } = begin()
    time.advance(4999)
    await settled()
    expect(outcome.error).toBe('none yet')
    time.advance(1)
    await ended
    expect(outcome.error).toMatchObject({ code: 'voice_failed', retryable: true })
  })

  it('an utterance from a voice service fails four seconds after the last audio, and the received audio is delivered', async () => {
    const { time, utterance, chunks, ended, outcome } = begin()
    time.advance(4000)
    utterance.audio(audio(100))
    time.advance(3500)
    utterance.audio(audio(100))
    time.advance(3999)
    await settled()
    expect(outcome.error).toBe('none yet')
    time.advance(1)
    await ended
    expect(outcome.error).toMatchObject({ code: 'voice_failed' })
    expect(chunks.reduce((sum, { samples }) => sum + samples.length, 0)).toBe(1600)
  })

  it('an utterance from a voice service applies a budget between pieces that is shorter than the one for the first', async () => {
    const { time, utterance, ended, outcome } = begin({ firstAudioMs: 5000, idleMs: 300 })
    utterance.audio(audio(100))
    time.advance(200)
    utterance.audio(audio(100))
    time.advance(299)
    await settled()
    expect(outcome.error).toBe('none yet')
    time.advance(1)
    await ended
    expect(outcome.error).toMatchObject({ code: 'voice_failed' })
  })

  it('an utterance from a voice service leaves no timer when it ends', async () => {
    for (const finish of ['end', 'stop'] as const) {
      const { time, utterance, ended, outcome } = begin()
      utterance.audio(audio(100))
      utterance[finish]()
      await ended
      expect(outcome.error).toBe(null)
      expect(time.nextDeadline()).toBe(undefined)
    }
  })

  it('an utterance from a voice service delivers nothing once it was stopped, not even audio that was ready', async () => {
    const { utterance, chunks, ended } = begin()
    utterance.audio(audio(100))
    utterance.stop()
    utterance.audio(audio(100))
    utterance.end()
    utterance.fail(new ProviderError('voice_failed', 'late', { retryable: false }))
    await ended
    expect(chunks).toEqual([])
  })

  it('an utterance from a voice service delivers each word with the audio in which it begins, also when its time came early or after the last audio', async () => {
    const { utterance, chunks, ended } = begin()
    utterance.word('one', 0)
    utterance.word('two', 250)
    utterance.audio(audio(100))
    await settled()
    utterance.audio(audio(100))
    await settled()
    utterance.audio(audio(200))
    utterance.word('three', 390)
    utterance.end()
    await ended
    expect(chunks.map(({ words }) => words.map(({ text }) => text))).toEqual([['one'], [], ['two'], ['three']])
  })

  it('an utterance from a voice service fails when the service ends without audio', async () => {
    const { utterance, ended, outcome } = begin()
    utterance.end()
    await ended
    expect(outcome.error).toMatchObject({ code: 'voice_failed', retryable: true })
  })

  it('an utterance from a voice service fails when the audio never ends', async () => {
    const { utterance, ended, outcome } = begin()
    for (let minutes = 0; minutes < 16 && !utterance.isOver; minutes++) utterance.audio(audio(60_000))
    await ended
    expect(outcome.error).toMatchObject({ code: 'voice_failed' })
  })
})
