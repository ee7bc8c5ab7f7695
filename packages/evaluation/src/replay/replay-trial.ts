import { type InputLog, ModelMeter, replayText, type TimelineItem } from '@parley/conversation'
import { replayCall } from '@parley/engine'
import type { Plan } from '@parley/flow'
import type { TextCaller } from '../caller-move.ts'
import { personaCaller } from '../persona/persona-caller.ts'
import type { TrialReport } from '../run-trial.ts'
import { runTextTrial } from '../text-trial.ts'
import type { TrialOptions } from '../trial.ts'
import type { TrialRecord } from '../trial-record.ts'
import { deterministicAnswers, recordedMocks, recordedModels, startedActions } from './recorded-answers.ts'
import { personaOf, ReplayCaller, recordedTurns } from './replay-caller.ts'
import { changesOfTurn, latencyChanges, type TurnChange, turnSummaries } from './turn-changes.ts'

/** What a replay found. */
interface ReplayFindings {
  readonly changes: readonly TurnChange[]
  readonly turns: readonly { readonly turn: number; readonly source: 'replayed' | 'simulated' }[]
}

export interface ReplayReport extends TrialReport {
  /** Null: the run could not be replayed. */
  readonly replay: ReplayFindings | null
}

interface ReplayTrialOptions extends TrialOptions {
  readonly log: InputLog
  /** The timeline of the recorded run. */
  readonly recorded: readonly TimelineItem[]
  /** How the recorded run ended. */
  readonly outcome: TrialRecord['outcome']
  /** The replayed publication is that of the recorded run: every decision is compared. */
  readonly isSame: boolean
  /** Versions of this program. */
  readonly versions: { readonly code: string; readonly lexicon: string }
  readonly afterChange: 'stop' | 'simulate'
  /** Finds deterministic voices, whose audio is made again and compared; default: lengths of audio are compared. */
  readonly voiceOf?: NonNullable<Parameters<typeof replayCall>[0]['voiceOf']>
}

/**
 * Replays a recorded run. With its own publication it repeats every decision; with another it is exact until the first turn that
 * changes, which is then carried out in text, and the turns after it only where the caller is simulated.
 */
export async function runReplayTrial(options: ReplayTrialOptions): Promise<ReplayReport> {
  const { log, isSame, versions } = options
  const refusal = refusalOf(options)
  if (refusal !== null) return { verdict: 'errored', record: null, assertions: [], error: refusal, replay: null }
  const hasSameCode = log.header.code === versions.code && log.header.lexicon === versions.lexicon
  if (isSame && !hasSameCode) {
    const error =
      'code_changed: the run was recorded by another version of the program: replay it against another publication'
    return { verdict: 'errored', record: null, assertions: [], error, replay: null }
  }
  const first = await replayed(log, options.plan, {
    compare: isSame ? 'exact' : 'changed',
    ...(!isSame && { answerTo: deterministicAnswers(options.models) }),
    ...(options.voiceOf && { voiceOf: options.voiceOf }),
  })
  if (first.divergence === null) return unchanged(first, options)
  const replayedTurns = turnSummaries(first.timeline)
  if (isSame) {
    const changed = replayedTurns.length - 1
    const { kind, message } = first.divergence
    const changes: TurnChange[] = [{ turn: changed, kind: 'decision', before: kind, after: message }]
    return report(null, changes, turnsUpTo(changed, changed), options)
  }
  return carriedOn(changedTurn(turnSummaries(options.recorded), replayedTurns), first, options)
}

type Replayed = Awaited<ReturnType<typeof replayed>>
type Compared = Omit<Parameters<typeof replayCall>[0], 'log' | 'plan' | 'agent'>

async function replayed(log: InputLog, plan: Plan, compared: Compared) {
  return log.header.kind === 'call' ? replayCall({ log, plan, ...compared }) : replayText({ log, plan, ...compared })
}

function refusalOf({ log }: ReplayTrialOptions): string | null {
  if (log.header.redacted) return 'redacted: personal data was taken out of the run, so that it cannot be repeated'
  if (log.header.format === 1)
    return 'code_changed: the log of the run is of an older version of the program, and lacks what a replay needs'
  return log.isTruncated ? 'log_truncated: the log of the run reached its limit, and its end is missing' : null
}

function unchanged(again: Replayed, options: ReplayTrialOptions): ReplayReport {
  const turns = turnSummaries(again.timeline)
  const changes = latencyChanges(turnSummaries(options.recorded), turns, turns.length)
  return report(recordOf(again, options.outcome), changes, turnsUpTo(turns.length - 1, turns.length), options)
}

/** The turn of the first difference: the last one of a replay that ended there, unless what an earlier one did came to light only then. */
function changedTurn(before: Turns, after: Turns): number {
  const last = after.length - 1
  const at = after.findIndex((turn, index) => index < last && changesOfTurn(index, before[index], turn).length > 0)
  return at < 0 ? last : at
}

/** The first changed turn in text, and what follows it if the caller is simulated. */
async function carriedOn(changed: number, first: Replayed, options: ReplayTrialOptions): Promise<ReplayReport> {
  const { recorded, afterChange, models, testCase, random } = options
  const before = turnSummaries(recorded)
  const goesOn =
    afterChange === 'stop'
      ? null
      : personaCaller(personaOf(recorded), {
          language: testCase.language,
          models,
          meter: new ModelMeter(() => {}),
          random,
        })
  const record = await heldInText(changed, goesOn, options)
  const after = turnSummaries(record.timeline)
  const last = afterChange === 'stop' ? changed : Math.max(before.length, after.length) - 1
  const changes: TurnChange[] = []
  const reason = first.divergence?.message ?? null
  for (let at = changed; at <= last; at++) changes.push(...changesOfTurn(at, before[at], after[at]))
  if (!changes.some(change => change.turn === changed))
    changes.unshift({ turn: changed, kind: 'decision', before: null, after: reason })
  changes.unshift(...latencyChanges(before, turnSummaries(first.timeline), changed))
  return report(record, changes, turnsUpTo(afterChange === 'stop' ? changed : after.length - 1, changed), options)
}

type Turns = ReturnType<typeof turnSummaries>

/** The conversation in text, with the recorded turns of the caller up to this one, and then those of `goesOn`. */
function heldInText(turn: number, goesOn: TextCaller | null, options: ReplayTrialOptions): Promise<TrialRecord> {
  const { log, recorded, models, testCase } = options
  return runTextTrial({
    ...options,
    testCase: { ...testCase, mocks: recordedMocks(log, startedActions(recorded)) },
    models: recordedModels(log, models),
    wallClock: () => log.header.startedAt,
    caller: new ReplayCaller(recordedTurns(recorded, turn), goesOn),
  })
}

/** Turns before `simulatedFrom` are exact. */
function turnsUpTo(last: number, simulatedFrom: number): ReplayFindings['turns'] {
  return Array.from({ length: last + 1 }, (_, turn) => ({
    turn,
    source: turn < simulatedFrom ? ('replayed' as const) : ('simulated' as const),
  }))
}

function report(
  record: TrialRecord | null,
  changes: readonly TurnChange[],
  turns: ReplayFindings['turns'],
  { testCase }: ReplayTrialOptions,
): ReplayReport {
  // An answer at another time is shown, and is no other answer.
  const changed = changes.filter(({ kind }) => kind !== 'latency')
  const passed = changed.length === 0
  const message = passed
    ? null
    : `${new Set(changed.map(({ turn }) => turn)).size} turns changed, the first is turn ${changed[0]!.turn}`
  return {
    verdict: passed ? 'passed' : 'failed',
    record,
    assertions: testCase.assertions.map(({ id, type }) => ({ id, type, passed, message })),
    error: null,
    replay: { changes, turns },
  }
}

/** The record of a conversation that was replayed whole, without requests and without effects. */
function recordOf({ timeline, utterances }: Replayed, outcome: TrialRecord['outcome']): TrialRecord {
  const latencies = timeline.flatMap(item => (item.kind === 'turn' ? [item.latency.e2e] : []))
  return {
    timeline,
    utterances,
    speech: [],
    nodes: [],
    calls: [],
    guardEvents: [],
    outcome,
    variable: () => undefined,
    landings: new Map(),
    latenciesMs: latencies.flatMap(ms => ms ?? []),
    missed: [],
    usage: [],
    effects: [],
  }
}
