import { VirtualTime } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent } from '@parley/leg'
import type { TextToSpeech } from '@parley/providers'
import { expect, it } from 'vitest'
import { Call, type CallEvent } from './call.ts'

const end: LegEnd = {
  direction: 'inbound',
  answered: true,
  by: 'remote',
  cause: 'bye',
  sipStatus: 200,
  reason: '',
  confirmed: true,
  detail: '',
  retryAfterS: undefined,
  media: null,
}

/** A leg that happens as the test says, and lets listeners fail as a real one does. */
class ScriptedLeg {
  hungUp = 0
  reads = 0
  #listener: (event: LegEvent) => void = () => {}

  onEvent(listener: (event: LegEvent) => void): () => void {
    this.#listener = listener
    return () => {}
  }

  emit(event: LegEvent): void {
    try {
      this.#listener(event)
    } catch {
      this.hangUp()
    }
  }

  hangUp(): void {
    this.hungUp++
  }

  readHeard = () => {
    this.reads++
    return 0
  }
  playedTo = 0
  play = (audio: Int16Array) => audio.length
  played = () => this.playedTo
  flush = () => this.playedTo
  transport = null
}

const voice = {
  synthesize: async function* () {
    yield { samples: new Int16Array(800), words: [] }
  },
} as unknown as TextToSpeech

function callWith(onEvent: (event: CallEvent) => void): { call: Call; leg: ScriptedLeg; time: VirtualTime } {
  const time = new VirtualTime()
  const leg = new ScriptedLeg()
  const call = new Call({ leg: leg as unknown as CallLeg, voice, language: 'en', time, onEvent })
  return { call, leg, time }
}

it('a call whose listener fails at its very end is over all the same, and keeps no timer', async () => {
  const { call, leg, time } = callWith(event => {
    if (event.type === 'ended' || (event.type === 'leg' && event.event.type === 'ended')) throw new Error('listener')
  })
  leg.emit({ type: 'answered' })
  leg.emit({ type: 'ended', end })
  expect((await call.report).run.outcome?.kind).toBe('caller_hung_up')
  const read = leg.reads
  time.advance(10_000_000)
  expect(leg.reads).toBe(read)
})

it('a listener that fails ends its call, as failed', async () => {
  const { call, leg } = callWith(event => {
    if (event.type === 'leg' && event.event.type === 'answered') throw new Error('listener')
  })
  leg.emit({ type: 'answered' })
  expect(leg.hungUp).toBe(1)
  leg.emit({ type: 'ended', end })
  expect((await call.report).run.outcome).toMatchObject({ kind: 'error', detail: 'internal' })
})

it('a listener that fails in a timer of the call harms nobody else', async () => {
  let told = 0
  const { leg, time } = callWith(event => {
    if (event.type !== 'utterance') return
    told++
    throw new Error('listener')
  })
  leg.emit({ type: 'answered' })
  await new Promise(resolve => setImmediate(resolve))
  // The time limit cuts the greeting, and tells what was said of it.
  leg.playedTo = 400
  time.advance(3_600_001)
  expect(told).toBe(1)
  expect(leg.hungUp).toBeGreaterThan(0)
})

it('listeners hear the last event of the leg, then the report, once', async () => {
  const heard: string[] = []
  const { call, leg } = callWith(event => heard.push(event.type === 'leg' ? event.event.type : event.type))
  leg.emit({ type: 'answered' })
  leg.emit({ type: 'ended', end })
  await call.report
  expect(heard).toEqual(['answered', 'ended', 'ended'])
})
