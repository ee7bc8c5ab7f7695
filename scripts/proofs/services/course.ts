import { isDeepStrictEqual } from 'node:util'
import type { CallReport } from '@parley/engine/testing'

/** Utterances, path and actions of a call, without timing. */
interface CallCourse {
  readonly outcome: string | undefined
  readonly said: readonly string[]
  readonly answered: readonly string[]
  readonly interrupted: number
  readonly digits: string
  readonly nodes: readonly string[]
  readonly actions: readonly string[]
  readonly errors: readonly string[]
}

export function courseOf({ run, utterances, digits, timeline }: CallReport): CallCourse {
  return {
    outcome: run.outcome?.kind,
    said: utterances.filter(line => line.role === 'user').map(line => plain(line.text)),
    answered: utterances.filter(line => line.role === 'agent' && !line.interrupted).map(line => line.text),
    interrupted: utterances.filter(line => line.interrupted).length,
    digits,
    nodes: timeline.flatMap(item => (item.kind === 'node' ? [item.node_id] : [])),
    actions: timeline.flatMap(item => (item.kind === 'action' ? [`${item.action_id} ${item.phase}`] : [])),
    errors: timeline.flatMap(item =>
      item.kind === 'error' && !isLate(item.code) ? [`${item.code}: ${item.message}`] : [],
    ),
  }
}

/**
 * Whether the machine was too slow for the call: sound of the caller or the agent is missing in it, or a service was late without having
 * failed. Then words may be misheard, and the agent may say that it needs a moment.
 */
export function isDisturbed({ timeline, end }: CallReport): boolean {
  const { missedSlots = 0, concealedSamples = 0, heardOverrunSamples = 0 } = end.media?.statistics ?? {}
  const isLateService = timeline.some(item => item.kind === 'error' && isLate(item.code))
  return missedSlots + concealedSamples + heardOverrunSamples > 0 || isLateService
}

function isLate(code: string): boolean {
  return code.endsWith('_late')
}

/** Whether the call succeeded, without errors, and the agent understood `script`, what the caller says, word by word. */
export function isClean({ outcome, errors, said }: CallCourse, script: readonly string[]): boolean {
  return outcome === 'completed' && errors.length === 0 && isDeepStrictEqual(said, script.map(plain))
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L} ]/gu, '')
}

/** The parts of `course` that differ from `expected`. */
export function differences(expected: CallCourse, course: CallCourse): Partial<CallCourse> {
  const parts = Object.entries(course) as [keyof CallCourse, CallCourse[keyof CallCourse]][]
  return Object.fromEntries(parts.filter(([part, value]) => !isDeepStrictEqual(value, expected[part])))
}
