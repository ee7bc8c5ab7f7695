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
    said: utterances
      .filter(line => line.role === 'user')
      .map(line => line.text.toLowerCase().replace(/[^\p{L} ]/gu, '')),
    answered: utterances.filter(line => line.role === 'agent' && !line.interrupted).map(line => line.text),
    interrupted: utterances.filter(line => line.interrupted).length,
    digits,
    nodes: timeline.flatMap(item => (item.kind === 'node' ? [item.node_id] : [])),
    actions: timeline.flatMap(item => (item.kind === 'action' ? [`${item.action_id} ${item.phase}`] : [])),
    errors: timeline.flatMap(item => (item.kind === 'error' ? [`${item.code}: ${item.message}`] : [])),
  }
}

export function isClean({ outcome, errors }: CallCourse): boolean {
  return outcome === 'completed' && errors.length === 0
}

/** The parts of `course` that differ from `expected`. */
export function differences(expected: CallCourse, course: CallCourse): Partial<CallCourse> {
  const parts = Object.entries(course) as [keyof CallCourse, CallCourse[keyof CallCourse]][]
  return Object.fromEntries(parts.filter(([part, value]) => !isDeepStrictEqual(value, expected[part])))
}
