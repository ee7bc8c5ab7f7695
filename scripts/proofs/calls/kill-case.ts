import { type Random, randomBelow } from '@parley/kernel'
import type { NumberRuleInput } from '@parley/loadtest'
import type { ProofAgent } from './agents.ts'
import { LINES, type Line } from './call-harness.ts'

/** The moment of a call at which its engine is killed. */
export const MOMENTS = {
  /** An engine has it, and it waits for its turn on the trunk. */
  'before the INVITE leaves': { direction: 'outbound', part: 'talker', number: '2', latest: 400 },
  /** 100 was answered, no more. */
  dialling: { direction: 'outbound', part: 'talker', number: '0', latest: 500 },
  /** Not a word came back, and none will. */
  'dialling a carrier that is silent': { direction: 'outbound', part: 'talker', number: '4', latest: 500 },
  ringing: { direction: 'outbound', part: 'talker', number: '1', latest: 1000 },
  'just answered': { direction: 'outbound', part: 'talker', number: '2', latest: 100 },
  /** The database does not take the call's dialog: the ACK waits. */
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
    /** Which of the carrier's numbers, by what it does: see {@link KILL_NUMBERS}. */
    readonly number: string
    /** The kill comes so many ms at most after what shows that the moment is there. */
    readonly latest: number
  }
>
export type Moment = keyof typeof MOMENTS

const PREFIX = '+1415556'
/** Whom calls are put through to: it rings there. */
export const TARGET = `${PREFIX}9000`

/** By the digit behind the prefix. */
export const KILL_NUMBERS: readonly NumberRuleInput[] = [
  { number: `${PREFIX}0*`, ringAfterMs: null, behaviour: { do: 'ring' } },
  { number: `${PREFIX}1*`, behaviour: { do: 'ring' } },
  { number: `${PREFIX}2*`, behaviour: { do: 'answer', afterMs: 100 } },
  { number: `${PREFIX}3*`, behaviour: { do: 'answer', afterMs: 100, byes: 'unanswered' } },
  { number: `${PREFIX}4*`, ringAfterMs: null, behaviour: { do: 'ignore' } },
  { number: `${PREFIX}5*`, behaviour: { do: 'answer', afterMs: 1000 } },
  { number: `${PREFIX}9*`, behaviour: { do: 'ring' } },
]

/** What the proof must notice. */
export const PLANTED_FAULTS = {
  /** The run's lease never ends. */
  'nobody reaps': 'ringing',
  /** The run is offered as if nobody had ever called. */
  'engine dials again': 'just answered',
  /** The call was acknowledged before anybody could know how to hang it up. */
  'the dialog is lost': 'in conversation',
} as const satisfies Record<string, Moment>
export type PlantedKillFault = keyof typeof PLANTED_FAULTS

/** One call and when its engine dies. */
export interface KillCase {
  readonly index: number
  readonly moment: Moment
  readonly line: Line
  /** Whom we call, or who calls us: nobody else of the proof does. */
  readonly number: string
  /** Behind what shows that the moment is there, ms. */
  readonly delayMs: number
  readonly planted: PlantedKillFault | null
}

/** The planted ones, then `count`: every moment in turn, from one that the seed says, now on one line, now on the other. */
export function killCases(random: Random, count: number): KillCase[] {
  const moments = Object.keys(MOMENTS) as Moment[]
  const first = randomBelow(random, moments.length)
  const firstLine = randomBelow(random, LINES.length)
  const planted = (Object.entries(PLANTED_FAULTS) as [PlantedKillFault, Moment][]).map(([plant, moment], index) => {
    return { moment, line: LINES[index % LINES.length]!, planted: plant }
  })
  const others = Array.from({ length: count }, (_, index) => {
    const turn = (first + index) % moments.length
    const round = Math.floor((first + index) / moments.length)
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

/** The same once more, with another number: `again` is 1 the first time. */
export function onceMore(kill: KillCase, again: number): KillCase {
  return {
    ...kill,
    number: `${kill.number.slice(0, -3)}${String(999 - 10 * again - (kill.index % 10)).padStart(3, '0')}`,
  }
}
