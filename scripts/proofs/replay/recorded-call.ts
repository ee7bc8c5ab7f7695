import { type InputLog, readInputLog } from '@parley/conversation'
import { replayCall } from '@parley/engine'
import type { RecordedCall as CallLog } from '@parley/engine/testing'
import { exampleDraft } from '@parley/examples'
import { type Ms, type Random, randomBelow } from '@parley/kernel'
import type { LineDamageOptions } from '@parley/phone'
import type { TextToSpeech } from '@parley/providers'
import { CASES, type CallerCase } from '../../benchmarks/callers/cases.ts'
import {
  type CallerLine,
  examplePlan,
  type FinishedCall,
  type VirtualAgentCalls,
} from '../../benchmarks/callers/virtual-agent-call.ts'
import { type ObservedTurns, observer } from './true-changes.ts'

/** Versions that the logs of a proof name. */
export const VERSIONS = { code: 'this', lexicon: 'this', plan: 'recorded' }
const NOISES = ['room', 'car', 'street', 'babble', 'music'] as const

/** A call to an example agent, and the log of its inputs. */
export interface RecordedCall {
  readonly example: CallerCase
  readonly line: CallerLine
  /** Of the server of its actions. */
  readonly origin: string
  readonly call: FinishedCall
  readonly turns: ObservedTurns
  readonly log: InputLog
  readonly logBytes: number
}

/** Records a call of the scripted caller `number` on a line that is damaged by chance. `cancelledAfterMs`: an operator ends it then. */
export async function recordCall(
  calls: VirtualAgentCalls,
  number: number,
  random: Random,
  cancelledAfterMs?: Ms,
): Promise<RecordedCall> {
  const example = CASES[number % CASES.length]!
  const line = lineBy(random)
  const server = await calls.openServer()
  let recorded: CallLog | null = null
  const recording = {
    versions: VERSIONS,
    onRecorded: (log: CallLog) => {
      recorded = log
    },
  }
  const { turns, ...observed } = observer(server.origin)
  const variant = { ...observed, recording, ...(cancelledAfterMs !== undefined && { cancelledAfterMs }) }
  const call = await calls.run({ ...example, line }, server, variant).finally(() => server.close())
  const { log } = (recorded as CallLog | null)!.finish()
  return { example, line, origin: server.origin, call, turns, log: readInputLog(log), logBytes: log.length }
}

/** Why the repetition of a call is not what was recorded; null: decisions, words, times and samples are. */
export async function differenceOfReplay(
  { example, origin, call, log }: RecordedCall,
  voice: TextToSpeech,
): Promise<string | null> {
  const plan = examplePlan(exampleDraft(example.agent).draft, origin)
  const again = await replayCall({ log, plan, voiceOf: id => (id === voice.id ? voice : null) })
  if (log.isTruncated) return 'the log is truncated'
  if (again.divergence !== null) return `${again.divergence.kind}: ${again.divergence.message}`
  if (!again.hasComparedAudio) return 'the audio was not compared'
  if (JSON.stringify(again.utterances) !== JSON.stringify(call.report.utterances)) return 'the transcript differs'
  if (itemsOf(again.timeline) !== itemsOf(call.report.timeline)) return 'the timeline differs'
  return null
}

/** The conversation's items of a timeline, without what the call itself adds. */
function itemsOf(timeline: readonly { readonly kind: string }[]): string {
  return JSON.stringify(timeline.filter(({ kind }) => kind !== 'state').map(item => ({ ...item, seq: 0, at: '' })))
}

/** Half of the lines have noise, a third an echo, a third lose packets. */
function lineBy(random: Random): CallerLine {
  const kind = NOISES[randomBelow(random, 2 * NOISES.length)]
  const snrDb = 8 + randomBelow(random, 20)
  const echo = { levelDb: -42 + randomBelow(random, 16), delayMs: 40 + randomBelow(random, 160) }
  const loss = (1 + randomBelow(random, 30)) / 1000
  const damage: LineDamageOptions = {
    ...(kind !== undefined && { background: { kind, snrDb } }),
    ...(randomBelow(random, 3) === 0 && { echo }),
    ...(randomBelow(random, 3) === 0 && { loss }),
  }
  return { seed: randomBelow(random, 2 ** 31), isWideband: randomBelow(random, 4) === 0, damage }
}
