import { expect, it } from 'vitest'
import { ScriptedCall } from './testing/scripted-call.ts'

it('a sentence that sounds complete becomes an end-of-turn candidate 200 ms after the voice ended, before the turn is over', () => {
  const call = new ScriptedCall().connect()
  const end = call.say(1000, 'I would like a pizza.')
  call.runTo(10_000)
  expect(call.candidates).toEqual([
    expect.stringMatching(/^\d+ I would like a pizza\.$/),
    expect.stringMatching(/turn$/),
  ])
  const [candidate, turn] = call.candidates.map(line => Number.parseInt(line, 10)) as [number, number]
  expect(candidate - end).toBe(200)
  expect(turn).toBeGreaterThan(candidate)
})

it('a sentence that sounds unfinished becomes a candidate later, and is withdrawn when the caller goes on', () => {
  const call = new ScriptedCall().connect()
  const end = call.say(1000, 'I would like a pizza with')
  call.say(end + 1400, 'ham please.')
  call.runTo(10_000)
  const [first, second, third, last] = call.candidates
  expect(first).toMatch(/^\d+ I would like a pizza with$/)
  expect(Number.parseInt(first!, 10) - end).toBeGreaterThan(400)
  expect(second).toMatch(/goes on$/)
  expect(third).toMatch(/I would like a pizza with ham please\.$/)
  expect(last).toMatch(/turn$/)
})

it('the same words become a candidate once, revised words again', () => {
  const call = new ScriptedCall({}, { partialMs: 300 }).connect()
  call.say(1000, 'one two three four five')
  call.runTo(10_000)
  const texts = call.candidates.filter(line => !line.endsWith('turn'))
  expect(new Set(texts.map(line => line.replace(/^\d+ /, ''))).size).toBe(texts.length)
  expect(texts.at(-1)).toMatch(/one two three four five$/)
})

it('speech without words, or during speech of the agent that cannot be interrupted, is no candidate', () => {
  const call = new ScriptedCall({ settings: { interruptionSensitivity: 0 } }).connect()
  call.mumble(1000, 2000)
  call.runTo(5000)
  call.agentSpeaks(5100, 9000)
  call.say(6000, 'never mind.')
  call.runTo(8900)
  expect(call.candidates.filter(line => !line.endsWith('turn'))).toEqual([])
})
