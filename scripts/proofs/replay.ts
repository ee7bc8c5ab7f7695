import { testCase } from '@parley/contract'
import { type ReplayReport, runReplayTrial } from '@parley/evaluation'
import { exampleDraft } from '@parley/examples'
import type { Plan } from '@parley/flow'
import { type Random, randomBelow, SeededRandom, systemTime } from '@parley/kernel'
import { RulesModel, type TextToSpeech } from '@parley/providers'
import { examplePlan, VirtualAgentCalls } from '../benchmarks/callers/virtual-agent-call.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { type FlowMutation, mutate } from './replay/flow-mutations.ts'
import { differenceOfReplay, type RecordedCall, recordCall, VERSIONS } from './replay/recorded-call.ts'
import { firstChange, turnsOfCall } from './replay/true-changes.ts'
import { TurnCounts } from './replay/turn-counts.ts'

/** Mutations for each call. */
const MUTATIONS_PER_CALL = 2 / 3
const LEAST = 0.98
const CALLS_PER_CANCELLED = 3
const LATEST_CANCEL_MS = 20_000
const PROGRESS_EVERY = 5

/**
 * Calls of the scripted callers to the example agents, on damaged lines in virtual time. Each is repeated from its log: decisions, words,
 * times and the samples that were sent must be the same; so for a third as many calls that an operator cancels. Then flows are mutated at one place: the turns that a replay of a call against
 * the mutated flow says have changed are compared with those that change when the same caller calls the mutated agent.
 * `count`: calls; two thirds as many mutations. `voiceOfReplays`: default the voice of the calls.
 */
export async function proveReplay(
  options: ProofOptions,
  voiceOfReplays = (voice: TextToSpeech) => voice,
): Promise<ProofOutcome> {
  const { seed, count, line, progress } = options
  const random = new SeededRandom(seed)
  const calls = new VirtualAgentCalls()
  try {
    const recorded: RecordedCall[] = []
    let identical = 0
    const offset = randomBelow(random, 1000)
    for (let number = 0; number < count; number++) {
      const call = await recordCall(calls, offset + number, random)
      recorded.push(call)
      const difference = await differenceOfReplay(call, voiceOfReplays(calls.voice))
      if (difference === null) identical++
      else line({ call: call.example.id, line: call.line, difference })
      if (recorded.length % PROGRESS_EVERY === 0)
        progress(`${recorded.length} calls, ${identical} repeated identically`)
    }
    const cancelled = await repeatCancelled(calls, Math.ceil(count / CALLS_PER_CANCELLED), {
      random,
      line,
      voiceOfReplays,
    })
    const counts = new TurnCounts()
    const mutations = Math.round(count * MUTATIONS_PER_CALL)
    for (let number = 0; number < mutations; number++) {
      const call = recorded[number % recorded.length]!
      const wrong = await judgeMutation(call, calls, counts, { random, seed })
      if (wrong !== null) line(wrong)
      if ((number + 1) % PROGRESS_EVERY === 0) progress(`${number + 1} mutations: ${JSON.stringify(counts)}`)
    }
    const { precision, recall } = counts
    const summary = {
      calls: count,
      identical,
      cancelled,
      log_bytes: Math.max(...recorded.map(({ logBytes }) => logBytes)),
      mutations,
      turns: { ...counts },
      precision,
      recall,
    }
    return {
      ok: identical === count && cancelled.identical === cancelled.calls && precision >= LEAST && recall >= LEAST,
      summary,
    }
  } finally {
    await calls.close()
  }
}

/** Calls that an operator cancels at some time, repeated from their logs. */
async function repeatCancelled(
  calls: VirtualAgentCalls,
  count: number,
  {
    random,
    line,
    voiceOfReplays,
  }: Pick<ProofOptions, 'line'> & {
    readonly random: Random
    readonly voiceOfReplays: (voice: TextToSpeech) => TextToSpeech
  },
) {
  let identical = 0
  for (let number = 0; number < count; number++) {
    const afterMs = randomBelow(random, LATEST_CANCEL_MS)
    const call = await recordCall(calls, randomBelow(random, 1000), random, afterMs)
    const difference = await differenceOfReplay(call, voiceOfReplays(calls.voice))
    if (difference === null) identical++
    else line({ call: call.example.id, line: call.line, cancelled_after_ms: afterMs, difference })
  }
  return { calls: count, identical }
}

/** Counts the turns of one mutation; returns what to report of a wrong answer. */
async function judgeMutation(
  call: RecordedCall,
  calls: VirtualAgentCalls,
  counts: TurnCounts,
  options: { readonly random: Random; readonly seed: number },
): Promise<object | null> {
  const { example, line } = call
  const { mutation, plan } = validMutation(call, options.random)
  const truth = firstChange(call.turns, await turnsOfCall(calls, example, line, mutation.draft))
  const report = await replayed(call, plan, options.seed)
  if (report.replay === null) {
    counts.missed++
    return { call: example.id, mutation: mutation.what, error: report.error }
  }
  const turns = report.replay.turns.map(({ turn }) => turn)
  const isRight = counts.add(turns, changedTurns(report), truth)
  return isRight ? null : { call: example.id, mutation: mutation.what, truth, changes: report.replay.changes }
}

function changedTurns({ replay }: ReplayReport): ReadonlySet<number> {
  return new Set(replay!.changes.map(({ turn }) => turn))
}

/** A mutation that makes a valid agent. */
function validMutation(call: RecordedCall, random: Random): { readonly mutation: FlowMutation; readonly plan: Plan } {
  const { draft } = exampleDraft(call.example.agent)
  const used = new Set(
    call.call.report.timeline.flatMap(item =>
      item.kind === 'node' ? [item.node_id] : item.kind === 'action' ? [item.action_id] : [],
    ),
  )
  for (;;) {
    const mutation = mutate(draft, used, random)
    try {
      return { mutation, plan: examplePlan(mutation.draft, call.origin) }
    } catch {
      // Not every change makes a valid agent.
    }
  }
}

function replayed({ log, call, example }: RecordedCall, plan: Plan, seed: number): Promise<ReplayReport> {
  return runReplayTrial({
    plan,
    agentId: example.agent,
    agentVersion: 2,
    runId: '00000000-0000-4000-8000-000000000000',
    testCase: testCase.parse({
      case_id: 'replay',
      name: example.name,
      language: example.language,
      caller: { kind: 'script', steps: [{ hangs_up: true, says: '-' }] },
      max_turns: 30,
      assertions: [{ type: 'outcome', id: 'unchanged', kinds: ['completed'] }],
    }),
    models: () => new RulesModel({ time: systemTime }),
    time: systemTime,
    wallClock: Date.now,
    random: new SeededRandom(seed),
    signal: new AbortController().signal,
    log,
    recorded: call.report.timeline,
    outcome: { kind: 'completed', ended_by: 'caller', code: null },
    isSame: false,
    versions: VERSIONS,
    afterChange: 'stop',
  })
}

export const proof: Proof = { name: 'replay', count: 300, seconds: 7200, run: options => proveReplay(options) }
