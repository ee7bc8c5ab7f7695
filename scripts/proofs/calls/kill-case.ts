import { type Random, randomBelow } from '@parley/kernel'
import type { NumberRuleInput } from '@parley/loadtest'
import type { ProofAgent } from './agents.ts'
import { LINES, type Line } from './carrier-lines.ts'

/** The moment of a call at which its engine is killed. */
export const MOMENTS = {
  /** An engine owns the run, which waits for the trunk's rate limit. */
  'before the INVITE leaves': { direction: 'outbound', part: 'talker', number: '2', latest: 400 },
  /** The carrier has answered 100 only. */
  dialling: { direction: 'outbound', part: 'talker', number: '0', latest: 500 },
  /** The carrier answers nothing at all. */
  'dialling a carrier that is silent': { direction: 'outbound', part: 'talker', number: '4', latest: 500 },
  ringing: { direction: 'outbound', part: 'talker', number: '1', latest: 1000 },
  'just answered': { direction: 'outbound', part: 'talker', number: '2', latest: 100 },
  /** The database does not accept the call's dialog, so that the ACK waits. */
  'answered, not acknowledged': { direction: 'outbound', part: 'talker', number: '5', latest: 100 },
  /** The same, half a second later: the dialog is on the engine's disk. */
  'just acknowledged': { direction: 'outbound', part: 'talker', number: '5', latest: 20 },
  'in conversation': { direction: 'outbound', part: 'talker', number: '2', latest: 5000 },
  'in a transfer': { direction: 'outbound', part: 'switchboard', number: '2', latest: 500 },
  /** The carrier never answers the BYE. */
  'while hanging up': { direction: 'outbound', part: 'leaver', number: '3', latest: 300 },
  'inbound, just answered': { direction: 'inbound', part: 'talker', number: '', latest: 100 },
  'inbound, in conversation': { direction: 'inbound', part: 'talker', number: '', latest: 5000 },
  'inbound, in a transfer': { direction: 'inbound', part: 'switchboard', number: '', latest: 500 },
} as const satisfies Record<
  string,
  {
    readonly direction: 'outbound' | 'inbound'
    readonly part: ProofAgent
    /** Digit of the carrier's number after the prefix: see {@link KILL_NUMBERS}. */
    readonly number: string
    /** Longest time from the message that shows the moment to the kill, ms. */
    readonly latest: number
  }
>
export type Moment = keyof typeof MOMENTS

const PREFIX = '+1415556'
/** Number that calls are transferred to; it rings. */
export const TARGET = `${PREFIX}9000`

/** The carrier's numbers, by the digit after the prefix. */
export const KILL_NUMBERS: readonly NumberRuleInput[] = [
  { number: `${PREFIX}0*`, ringAfterMs: null, behaviour: { do: 'ring' } },
  { number: `${PREFIX}1*`, behaviour: { do: 'ring' } },
  { number: `${PREFIX}2*`, behaviour: { do: 'answer', afterMs: 100 } },
  { number: `${PREFIX}3*`, behaviour: { do: 'answer', afterMs: 100, byes: 'unanswered' } },
  { number: `${PREFIX}4*`, ringAfterMs: null, behaviour: { do: 'ignore' } },
  { number: `${PREFIX}5*`, behaviour: { do: 'answer', afterMs: 1000 } },
  { number: `${PREFIX}9*`, behaviour: { do: 'ring' } },
]

/** Faults that the proof must report, each with its moment. */
const PLANTED_FAULTS = {
  /** The lease of the run does not expire. */
  'no reaper': 'ringing',
  /** The run is offered again as if no call had been placed. */
  'engine dials again': 'just answered',
  /** The ACK was sent before the dialog was stored. */
  'the dialog is lost': 'in conversation',
} as const satisfies Record<string, Moment>
type PlantedKillFault = keyof typeof PLANTED_FAULTS

/** One call and when its engine dies. */
export interface KillCase {
  readonly index: number
  readonly moment: Moment
  readonly line: Line
  /** The called number, or the caller's; unique in the proof. */
  readonly number: string
  /** Time from the message that shows the moment to the kill, ms. */
  readonly delayMs: number
  readonly planted: PlantedKillFault | null
}

/** The planted cases, then `count` others: every moment in turn, in an order that `random` chooses, alternating between the lines. */
export function killCases(random: Random, count: number): KillCase[] {
  const moments = shuffled(random, Object.keys(MOMENTS) as Moment[])
  const firstLine = randomBelow(random, LINES.length)
  const planted = (Object.entries(PLANTED_FAULTS) as [PlantedKillFault, Moment][]).map(([fault, moment], index) => {
    return { moment, line: LINES[index % LINES.length]!, planted: fault }
  })
  const others = Array.from({ length: count }, (_, index) => {
    const turn = index % moments.length
    const round = Math.floor(index / moments.length)
    return { moment: moments[turn]!, line: LINES[(firstLine + turn + round) % LINES.length]!, planted: null }
  })
  return [...planted, ...others].map(({ moment, line, planted }, index) => {
    const { number, latest } = MOMENTS[moment]
    return {
      index,
      moment,
      line,
      planted,
      delayMs: randomBelow(random, latest),
      number: `${PREFIX}${number || '7'}${String(index % 1000).padStart(3, '0')}`,
    }
  })
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  const left = [...items]
  return items.map(() => left.splice(randomBelow(random, left.length), 1)[0]!)
}

/** The same case with another number; `again` counts the repetitions from 1. */
export function onceMore(kill: KillCase, again: number): KillCase {
  return {
    ...kill,
    number: `${kill.number.slice(0, -3)}${String(999 - 10 * again - (kill.index % 10)).padStart(3, '0')}`,
  }
}
