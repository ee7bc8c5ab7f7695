import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { ScriptedLine } from '../testing/scripted-line.ts'
import { FingerprintVoice } from '../testing/scripted-speech.ts'
import { LastWords } from './last-words.ts'
import { Playout } from './playout.ts'

const settled = () => new Promise(resolve => setImmediate(resolve))

function fixture() {
  const line = new ScriptedLine()
  const time = new VirtualTime()
  const choice = { voice: new FingerprintVoice(), language: 'en', voiceId: null }
  const calls = { done: 0 }
  const words = new LastWords(new Playout(line), choice, time, () => calls.done++)
  return { line, time, words, calls }
}

it('the call ends once after the apology was played', async () => {
  const { line, time, words, calls } = fixture()
  for (let i = 0; i < 20; i++) {
    await settled()
    words.onProgress(line.send(8000))
  }
  expect(calls.done).toBe(1)
  time.advance(60_000)
  words.cut()
  expect(calls.done).toBe(1)
})

it('the call ends after the timeout when the far end holds it during the apology', async () => {
  const { time, calls } = fixture()
  await settled()
  time.advance(19_000)
  expect(calls.done).toBe(0)
  time.advance(1000)
  expect(calls.done).toBe(1)
})
