import type { Ms } from '@parley/kernel'
import { AnswerDetector } from '../answer/answer-detector.ts'
import type { AnswerClass, AnswerInput, AnswerOptions, AnswerOutput, CallTone } from '../answer/protocol.ts'

/** Delay of voice activity, and of a recogniser's words after they were spoken. */
const EDGE_MS: Ms = 60
const WORDS_MS: Ms = 300
const HANGOVER_MS: Ms = 80
const WORD_MS: Ms = 300

/** What the far end does from the answer on, in order. */
export type AnswerStep =
  | { readonly says: string; readonly wordMs?: Ms; readonly words?: boolean; readonly lateMs?: Ms }
  | { readonly pauses: Ms }
  | {
      readonly tone: CallTone
      readonly hz: number
      readonly ms: Ms
      readonly isIsolated?: boolean
      readonly isPure?: boolean
      /** Voice activity from the start of the tone for this time; default: none. */
      readonly voicedMs?: Ms
      /** How much of the start of the tone noise hides from the tone detector; default: nothing. */
      readonly hiddenMs?: Ms
    }
  | { readonly agent: boolean }
  | { readonly rearm: true }

/** An output with the time at which it was given. */
export type TimedOutput = AnswerOutput & { readonly atMs: Ms }

interface DetectOptions extends Partial<AnswerOptions> {
  readonly early?: readonly AnswerStep[]
  readonly untilMs?: Ms
  /** The thread stands still meanwhile: it then gets all that waits at once, before its timers. */
  readonly stall?: { readonly fromMs: Ms; readonly untilMs: Ms }
}

/** Plays steps to a detector in virtual time; the answer is at 0. */
export function detect(steps: readonly AnswerStep[], options: DetectOptions = {}): TimedOutput[] {
  const { early = [], untilMs, stall, ...rest } = options
  const afterStall = (at: Ms) => (stall !== undefined && at >= stall.fromMs && at < stall.untilMs ? stall.untilMs : at)
  const detector = new AnswerDetector({ languages: ['en'], timeoutMs: 30_000, ...rest })
  const before = inputsOf(early, -10_000)
  const inputs = [...before.inputs, { at: 0, input: { type: 'answered' } as const }, ...inputsOf(steps, 0).inputs]
  inputs.sort((a, b) => a.at - b.at)
  const outputs: TimedOutput[] = []
  const drain = (at: Ms) => {
    for (let output = detector.poll(); output !== undefined; output = detector.poll())
      outputs.push({ ...output, atMs: at })
  }
  const advanceTo = (until: Ms) => {
    for (let at = detector.deadline(); at !== undefined && afterStall(at) <= until; at = detector.deadline()) {
      detector.advance(afterStall(at))
      drain(afterStall(at))
    }
  }
  for (const { at, input } of inputs) {
    const heardAt = afterStall(at)
    advanceTo(heardAt === stall?.untilMs ? stall.fromMs : heardAt)
    detector.handle(heardAt, input)
    drain(heardAt)
  }
  advanceTo(untilMs ?? inputsOf(steps, 0).endMs + 4000)
  return outputs
}

/** The classes of the verdicts, in order. */
export function classesOf(outputs: readonly TimedOutput[]): AnswerClass[] {
  return outputs.flatMap(output => (output.type === 'verdict' ? [output.verdict.class] : []))
}

function inputsOf(steps: readonly AnswerStep[], from: Ms): { inputs: { at: Ms; input: AnswerInput }[]; endMs: Ms } {
  const inputs: { at: Ms; input: AnswerInput }[] = []
  let now = from
  for (const step of steps) {
    if ('pauses' in step) now += step.pauses
    else if ('agent' in step) inputs.push({ at: now, input: { type: 'agent-sound', on: step.agent } })
    else if ('rearm' in step) inputs.push({ at: now, input: { type: 'rearm', timeoutMs: 30_000 } })
    else if ('tone' in step) {
      const { tone, hz, ms, isIsolated = true, isPure = true, voicedMs, hiddenMs = 0 } = step
      if (voicedMs !== undefined) {
        inputs.push({ at: now + EDGE_MS, input: { type: 'voice-started', startedAt: now } })
        const stoppedAt = now + voicedMs
        inputs.push({ at: stoppedAt + HANGOVER_MS, input: { type: 'voice-stopped', stoppedAt } })
      }
      const heardAt = now + hiddenMs
      inputs.push({ at: heardAt + 140, input: { type: 'tone-started', tone: 'tone', hz, at: heardAt } })
      if (tone !== 'tone')
        inputs.push({ at: now + Math.min(ms, 640), input: { type: 'tone-started', tone, hz, at: now } })
      now += ms
      inputs.push({ at: now + 50, input: { type: 'tone-ended', at: now, isIsolated, isPure } })
    } else now = speak(inputs, now, step)
  }
  return { inputs, endMs: now }
}

function speak(inputs: { at: Ms; input: AnswerInput }[], from: Ms, step: Extract<AnswerStep, { says: string }>): Ms {
  const { says, wordMs = WORD_MS, words: heard = true, lateMs = WORDS_MS } = step
  const texts = says.split(' ')
  const spoken = texts.map((text, i) => ({ text, startMs: from + i * wordMs, endMs: from + (i + 1) * wordMs }))
  const end = from + texts.length * wordMs
  inputs.push({ at: from + EDGE_MS, input: { type: 'voice-started', startedAt: from } })
  inputs.push({ at: end + HANGOVER_MS, input: { type: 'voice-stopped', stoppedAt: end } })
  if (!heard) return end
  for (let count = 1; count <= texts.length; count++) {
    const words = spoken.slice(0, count)
    const type = count === texts.length ? 'final' : 'partial'
    const text = words.map(word => word.text).join(' ')
    inputs.push({ at: words.at(-1)!.endMs + lateMs, input: { type, text, words } })
  }
  return end
}
