import { NARROWBAND } from '@parley/kernel'
import { expect, it } from 'vitest'
import type { SpeechEvent } from '../speech-to-text/speech-to-text.ts'
import { addTones } from './modulator.ts'
import { SYMBOL } from './tone-line.ts'
import { TonesRecogniser } from './tones-recogniser.ts'
import { framesOfWord } from './word-frame.ts'

const SECOND = NARROWBAND.sampleRateHz

/** Two seconds: tones of `words` from a quarter of a second on, without a voice below them. */
function tonesOf(words: readonly string[]): Int16Array {
  const audio = new Float32Array(2 * SECOND)
  let at = SECOND / 4
  for (const word of words)
    for (const symbols of framesOfWord(word)) {
      addTones(audio, at, symbols, 300)
      at += (symbols.length / 2 + 2) * SYMBOL
    }
  return Int16Array.from(audio)
}

/** What the recogniser reports when its writer tells where voice begins and ends, by the position before which it is told. */
function reported(audio: Int16Array, told: Readonly<Record<number, 'voice-start' | 'voice-end'>>): SpeechEvent[] {
  const stream = new TonesRecogniser().open({ language: 'en', tellsVoice: true })
  const events: SpeechEvent[] = []
  stream.onEvent(event => events.push(event))
  for (let at = 0; at < audio.length; at += 160) {
    const type = told[at]
    if (type !== undefined) stream.voice!(type, at)
    stream.write(audio.subarray(at, at + 160), at)
  }
  stream.close()
  return events
}

it('the built-in recogniser ends a line with the voice of which its writer tells', () => {
  const audio = tonesOf(['yes', 'please'])
  const finals = (events: readonly SpeechEvent[]) =>
    events.flatMap(event => (event.type === 'final' ? [event.text] : []))
  expect(finals(reported(audio, { 1600: 'voice-start', 8000: 'voice-end' }))).toEqual(['yes please'])
  expect(finals(reported(audio, { 1600: 'voice-start' }))).toEqual([])
})

it('the built-in recogniser reports voice without words where its writer tells of it, and nothing else', () => {
  const silence = new Int16Array(2 * SECOND)
  const buzz = Int16Array.from({ length: 2 * SECOND }, (_, n) => ((n % 66) - 33) * 200)
  const types = (events: readonly SpeechEvent[]) => events.map(({ type }) => type)
  expect(reported(silence, { 1600: 'voice-start', 8000: 'voice-end' })).toEqual([
    { type: 'speech-started', atSample: 1600 },
    { type: 'unintelligible', startSample: 1600, endSample: 8000 },
  ])
  expect(types(reported(buzz, {}))).toEqual([])
})
