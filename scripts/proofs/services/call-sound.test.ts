import { expect, it } from 'vitest'
import { CallSound, stretch } from './call-sound.ts'

type Part = readonly [side: 'caller' | 'agent' | 'both' | 'none', ms: number]

function call(...parts: readonly Part[]): CallSound {
  const side = (name: 'caller' | 'agent') => {
    const stretches = parts.map(([speaking, ms]) => stretch(ms, speaking === name || speaking === 'both'))
    return Int16Array.from(stretches.flatMap(audio => [...audio]))
  }
  return new CallSound(side('caller'), side('agent'))
}

it('dead air is the longest wait for the agent after the caller stops speaking', () => {
  const sound = call(['agent', 1000], ['none', 5000], ['caller', 800], ['none', 700], ['agent', 400])
  expect(sound.deadAir([])).toBe(700)
  const pausing = call(['caller', 400], ['none', 200], ['caller', 400], ['none', 500], ['agent', 400])
  expect(pausing.deadAir([])).toBe(500)
})

it('a caller who is never answered waits until the end', () => {
  expect(call(['agent', 400], ['caller', 400], ['none', 9000]).deadAir([])).toBe(9000)
  expect(call(['caller', 400], ['none', 2000], ['caller', 400], ['none', 1000]).deadAir([])).toBe(3400)
})

it('dead air also counts from keys that the caller presses', () => {
  expect(call(['agent', 400], ['none', 3000], ['agent', 400]).deadAir([1000])).toBe(2400)
})

it('silence is the longest time without sound from either side', () => {
  const sound = call(['none', 9000], ['agent', 400], ['none', 3000], ['agent', 400], ['none', 1000])
  expect(sound.silence()).toBe(3000)
  expect(sound.deadAir([])).toBe(0)
})

it('agentWithin is the length of the agent’s sound in a time range', () => {
  const sound = call(['agent', 1000], ['none', 1000], ['agent', 200])
  expect(sound.agentWithin(900, 2000)).toBe(100)
  expect(sound.agentWithin(1000, 2000)).toBe(0)
  expect(sound.agentWithin(1100, 3000)).toBe(200)
})

it('silentAfter is the time from an interruption to the agent’s last sound, also when it pauses in between', () => {
  const sound = call(['agent', 1000], ['none', 500], ['agent', 200], ['none', 500])
  expect(sound.silentAfter(950, 1400)).toBe(50)
  expect(sound.silentAfter(1000, 1400)).toBe(0)
  expect(sound.silentAfter(950, 1700)).toBe(750)
})
