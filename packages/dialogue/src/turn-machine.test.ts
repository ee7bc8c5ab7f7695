import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DialogueInput, DialogueOutput } from './protocol.ts'
import { OPTIONS, ScriptedCall } from './testing/scripted-call.ts'

const ACKNOWLEDGEMENTS = ['yeah', 'okay', 'uh-huh', 'sí', 'right']
const word = fc.constantFrom('I', 'would', 'the', 'cancel', 'stop', 'um', 'pizza.', 'five', 'and', 'no', 'María', 'x')
const pause = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 20, max: 150 }) },
  { weight: 2, arbitrary: fc.integer({ min: 150, max: 900 }) },
  { weight: 1, arbitrary: fc.integer({ min: 900, max: 6000 }) },
)
const spokenWord = fc.record({
  text: fc.oneof(word, fc.constantFrom(...ACKNOWLEDGEMENTS)),
  ms: fc.integer({ min: 80, max: 700 }),
  pause,
})

const caller = fc.array(spokenWord, { minLength: 1, maxLength: 40 })
const recogniser = fc.record({
  onsetMs: fc.constantFrom(20, 60, 120),
  hangoverMs: fc.constantFrom(100, 200),
  partialMs: fc.constantFrom(50, 150, 400, 900, null),
  finalMs: fc.constantFrom(0, 100, 600, 1500, null),
  /** Finals without a `finalize`: all words up to `at`, delivered `late` ms later. */
  finals: fc.array(fc.record({ at: fc.integer({ min: 0, max: 60_000 }), late: fc.integer({ min: 0, max: 1500 }) }), {
    maxLength: 8,
  }),
  mishears: fc.boolean(),
  detectsVoice: fc.boolean(),
})
const agent = fc.record({
  speeches: fc.array(fc.record({ at: fc.integer({ min: 0, max: 50_000 }), ms: fc.integer({ min: 50, max: 9000 }) }), {
    maxLength: 6,
  }),
  sensitivity: fc.constantFrom(0, 0.1, 0.5, 1),
  mode: fc.constantFrom({ mode: 'adaptive' } as const, { mode: 'fixed', silenceMs: 300 } as const),
})

type Recogniser = typeof recogniser extends fc.Arbitrary<infer Value> ? Value : never
type Agent = typeof agent extends fc.Arbitrary<infer Value> ? Value : never
type Caller = typeof caller extends fc.Arbitrary<infer Value> ? Value : never

/** Runs the call to half a minute after its last word; returns the call and the spoken words. */
function runCall(utterances: Caller, behaviour: Recogniser, { speeches, sensitivity, mode }: Agent) {
  const { partialMs, finalMs, onsetMs, hangoverMs } = behaviour
  let count = 0
  /** Changes every third word, and shifts words by up to 25 ms. */
  const mishear = ({ text, startMs, endMs }: { text: string; startMs: number; endMs: number }) => {
    if (!behaviour.mishears) return { text, startMs, endMs }
    count++
    const shift = ((count * 7) % 51) - 25
    return { text: count % 3 === 0 ? `${text}s` : text, startMs: startMs + shift, endMs: endMs + shift }
  }
  const call = new ScriptedCall(
    { settings: { interruptionSensitivity: sensitivity }, endpointing: mode },
    { onsetMs, hangoverMs, partialMs, finalMs, mishear },
  ).connect()
  let at = 500
  const words = utterances.map(({ text, ms, pause: silence }) => {
    const from = at
    at += ms + silence
    return { text, from, until: from + ms }
  })
  if (behaviour.detectsVoice) call.speak(words)
  else for (const { text, from, until } of words) call.word(text, from, until)
  for (const final of behaviour.finals) call.at(final.at + final.late, () => call.deliverFinal(final.at))
  // A recogniser without partials and without answers delivers everything at the end.
  call.at(at + 2000, () => call.deliverFinal(at))
  for (const speech of speeches) call.agentSpeaks(speech.at, speech.at + speech.ms)
  call.runTo(Math.max(at, 60_000) + 30_000)
  return { call, words }
}

/** Indices of the words that turns contain, identified by their start times. */
function numbersOf({ call, words }: ReturnType<typeof runCall>): number[] {
  return call.turns.flatMap(turn =>
    turn.words.map(({ startMs }) => words.findIndex(({ from }) => Math.abs(from - (startMs - 1_000_000)) <= 25)),
  )
}

describe('turns of a random caller with a random recogniser', () => {
  it('every word is in exactly one turn, in order, while the agent is silent', () => {
    fc.assert(
      fc.property(caller, recogniser, agent, (utterances, behaviour, { mode }) => {
        const result = runCall(utterances, behaviour, { speeches: [], sensitivity: 1, mode })
        expect(numbersOf(result)).toEqual(result.words.map((_, i) => i))
      }),
      { numRuns: 200 },
    )
  })

  it('while the agent speaks only acknowledgements are in no turn, and no word is in two turns or out of order', () => {
    fc.assert(
      fc.property(caller, recogniser, agent, (utterances, behaviour, agentPart) => {
        const result = runCall(utterances, { ...behaviour, mishears: false }, agentPart)
        const numbers = numbersOf(result)
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
        const missing = result.words.filter((_, i) => !numbers.includes(i)).map(({ text }) => text)
        const mayBeMissing = agentPart.sensitivity === 0 ? [] : [...ACKNOWLEDGEMENTS, 'um']
        expect(missing.filter(text => !mayBeMissing.includes(text))).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('every pause of the agent ends in one resume or cut within 8 s, every duck is undone, and a turn follows every cut', () => {
    fc.assert(
      fc.property(caller, recogniser, agent, (utterances, behaviour, agentPart) => {
        const { call } = runCall(utterances, behaviour, agentPart)
        expectPausesAndCutsResolved(call)
      }),
      { numRuns: 200 },
    )
  })
})

function expectPausesAndCutsResolved(call: ScriptedCall): void {
  let pausedAt: number | null = null
  let ducked = false
  let turnIsDue = false
  for (const { at, output } of call.outputs) {
    if (output.type === 'pause') {
      expect(pausedAt).toBeNull()
      pausedAt = at
    }
    if (output.type === 'resume') {
      expect(pausedAt).not.toBeNull()
      expect(at - pausedAt!).toBeLessThan(8000)
      pausedAt = null
    }
    if (output.type === 'cut') {
      turnIsDue = true
      if (pausedAt !== null) expect(at - pausedAt).toBeLessThan(8000)
      pausedAt = null
    }
    if (output.type === 'turn') turnIsDue = false
    if (output.type === 'duck') {
      expect(output.on).toBe(!ducked)
      ducked = output.on
    }
  }
  expect({ pausedAt, ducked, turnIsDue }).toEqual({ pausedAt: null, ducked: false, turnIsDue: false })
}

/** Offsets of times from now; some are not plausible. */
const time = fc.oneof(
  fc.integer({ min: -3000, max: 500 }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1e15),
)
const words = fc.array(fc.record({ text: fc.oneof(word, fc.constant(' ')), startMs: time, endMs: time }), {
  maxLength: 5,
})
const arbitraryInput = fc.oneof(
  fc.record({ type: fc.constant('voice-started'), startedAt: time }),
  fc.record({ type: fc.constant('voice-stopped'), stoppedAt: time }),
  fc.record({ type: fc.constant('partial'), text: fc.constant(''), words }),
  fc.record({ type: fc.constant('final'), text: fc.constant(''), words, fromFinalize: fc.boolean() }),
  fc.record({ type: fc.constant('unintelligible'), startMs: time, endMs: time }),
  fc.record({ type: fc.constant('end-of-turn'), confidence: fc.double(), eager: fc.boolean() }),
  fc.record({ type: fc.constant('turn-resumed') }),
  fc.record({ type: fc.constant('digit'), digit: fc.constantFrom('1', '#', 'x', '') }),
  fc.record({
    type: fc.constant('collect-digits'),
    digitLimit: fc.constantFrom(null, 1, 3),
    terminationKey: fc.constantFrom(null, '#'),
    timeoutMs: fc.constantFrom(1, 2000),
  }),
  fc.record({ type: fc.constant('await-opening'), afterMs: fc.constantFrom(null, 0, 3000) }),
  fc.record({ type: fc.constant('agent-speaking'), speaking: fc.boolean() }),
  fc.record({ type: fc.constant('agent-busy'), busy: fc.boolean() }),
  fc.record({
    type: fc.constant('settings'),
    settings: fc.record({
      interruptionSensitivity: fc.constantFrom(0, 0.3, 1),
      responsiveness: fc.constantFrom(0, 1),
      reminderTriggerMs: fc.constantFrom(0, 1, 5000),
      reminderMaxCount: fc.constantFrom(0, 2),
      allowDtmfInterruption: fc.boolean(),
    }),
  }),
) as fc.Arbitrary<DialogueInput>

/** The input with its offsets turned into times. */
function atTime(input: DialogueInput, now: number): DialogueInput {
  const at = (offset: number) => now + offset
  const place = (list: readonly { text: string; startMs: number; endMs: number }[]) =>
    list.map(({ text, startMs, endMs }) => ({ text, startMs: at(startMs), endMs: at(endMs) }))
  switch (input.type) {
    case 'voice-started':
      return { ...input, startedAt: at(input.startedAt) }
    case 'voice-stopped':
      return { ...input, stoppedAt: at(input.stoppedAt) }
    case 'unintelligible':
      return { ...input, startMs: at(input.startMs), endMs: at(input.endMs) }
    case 'partial':
    case 'final':
      return { ...input, words: place(input.words) }
    default:
      return input
  }
}

describe('any inputs in any order', () => {
  const script = fc.array(fc.record({ input: arbitraryInput, after: fc.integer({ min: 0, max: 1500 }) }), {
    maxLength: 60,
  })
  const limits = fc.record({
    endCallAfterSilenceMs: fc.constantFrom(1000, 20_000),
    maxCallDurationMs: fc.constantFrom(5000, 100_000),
    openerWaitsForCallee: fc.boolean(),
    beginMessageDelayMs: fc.constantFrom(0, 700),
    frequency: fc.constantFrom(0, 1),
    connectAfter: fc.nat(5),
  })

  it('for any inputs in any order the call ends once, every pause ends, and nothing but unused keys is reported after the end', () => {
    fc.assert(
      fc.property(script, limits, (steps, { frequency, connectAfter, ...options }) => {
        const backchannel = { ...OPTIONS.backchannel, enabled: true, frequency }
        const call = new ScriptedCall({ ...options, backchannel })
        let at = 0
        let connectedAt = Number.POSITIVE_INFINITY
        const connect = () => {
          connectedAt = Math.min(connectedAt, call.time.now())
          call.input({ type: 'connected' })
        }
        for (const [i, { input, after }] of steps.entries()) {
          at += after
          call.at(at, () => {
            if (i === connectAfter) connect()
            call.input(atTime(input, call.time.now()))
          })
        }
        call.at(at + 1, connect)
        call.at(at + 50_000, () => call.input({ type: 'agent-speaking', speaking: false }))
        call.runTo(at + 300_000)
        const outputs = call.outputs.filter(({ output }) => output.type !== 'unused-digits')
        const kinds = outputs.map(({ output }) => output.type)
        const isEnd = (output: DialogueOutput) =>
          output.type === 'max-duration' || (output.type === 'silence' && output.kind === 'limit')
        expect(outputs.filter(({ at: when }) => when < connectedAt)).toEqual([])
        expect(outputs.filter(({ output }) => isEnd(output))).toHaveLength(1)
        expect(isEnd(outputs.at(-1)!.output)).toBe(true)
        expect(kinds.filter(type => type === 'begin').length).toBeLessThanOrEqual(1)
        for (const { output } of outputs) if (output.type === 'turn') expectTimesMakeSense(output.turn)
        expectPausesPaired(kinds)
        expect(call.machine.deadline()).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })
})

function expectTimesMakeSense(turn: Extract<DialogueOutput, { type: 'turn' }>['turn']): void {
  for (const time of [turn.startMs, turn.endMs, turn.observedMs, turn.endpointingMs, turn.recogniserMs])
    expect(Number.isFinite(time)).toBe(true)
  expect(turn.startMs).toBeLessThanOrEqual(turn.endMs)
  expect(turn.endpointingMs).toBeGreaterThanOrEqual(0)
  expect(turn.recogniserMs).toBeGreaterThanOrEqual(0)
}

function expectPausesPaired(kinds: readonly string[]): void {
  let paused = false
  for (const kind of kinds) {
    if (kind === 'pause') {
      expect(paused).toBe(false)
      paused = true
    }
    if (kind === 'resume') expect(paused).toBe(true)
    if (kind === 'resume' || kind === 'cut') paused = false
  }
  expect(paused).toBe(false)
}
