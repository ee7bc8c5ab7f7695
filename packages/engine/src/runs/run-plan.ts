import { codeVersions, type PolicyDecision } from '@parley/conversation'
import { type DestinationRules, judgeDestination, type Plan } from '@parley/flow'
import type { Time } from '@parley/kernel'
import type { OwnedRun } from '@parley/runs'
import type { StartingRun } from '@parley/store'
import { agentHandler } from '../agent-handler.ts'
import type { CallEvent, CallOwner, PrepareSuccessor, Successor } from '../call.ts'
import type { CallPlan, HandlerFactory } from '../call-plan.ts'
import type { VoiceAgent, VoiceCallFacts } from '../voice/voice-agent.ts'
import type { CallRecord } from './call-record.ts'
import { type NumberingTrunk, writtenCalledNumber } from './trunk-numbers.ts'

/** Finds agents that continue calls. */
export interface CallSwaps {
  /** Resolves with a run that is ready to continue the call of `source`; null: none is, and the timeline of `source` says why. Never rejects. */
  prepare(
    source: ReadyRun,
    ...swap: Parameters<PrepareSuccessor>
  ): Promise<(Successor & { readonly run: OwnedRun }) | null>
}

/** A run with everything that its call needs. */
export interface ReadyRun {
  readonly run: OwnedRun
  readonly start: StartingRun
  readonly trunk: NumberingTrunk
  readonly agent: VoiceAgent
  readonly record: CallRecord
  readonly time: Time
  /** Prepares agents that continue the call. Default: none can. */
  readonly swaps?: CallSwaps
  /** How many agents had the call before. Default 0. */
  readonly handOvers?: number
  /** Awaited before the run that has the call at its end is finished. Default: nothing. */
  readonly beforeFinish?: (run: OwnedRun) => Promise<void>
}

/** The plan of a run's call: the agent talks, and the record writes the call's events into the run. */
export function runPlan(ready: ReadyRun, recording: CallPlan['recording']): CallPlan {
  const { start, record } = ready
  return {
    createHandler: runHandler(ready, factsOf(start)),
    recording,
    onCall: call => record.onCall(call),
    ...callOwner(ready),
  }
}

/** The run as the owner of its call. */
export function callOwner(ready: ReadyRun): CallOwner & { readonly run: OwnedRun } {
  const { run, record, swaps } = ready
  return {
    run,
    onEvent: (event, call) => record.onEvent(event, call),
    shown: event => shownOf(run, event),
    ...(swaps && { prepareSuccessor: (request, effectId, call) => swaps.prepare(ready, request, effectId, call) }),
  }
}

/** An event without the personal data that the run takes out. Single keys are not shown then: the run masks them as a group. */
function shownOf(run: OwnedRun, event: CallEvent): CallEvent | null {
  if (!run.isRedacted) return event
  if (event.type === 'leg') return event.event.type === 'digit' ? null : event
  return event.type === 'timeline' ? { ...event, item: run.asStored(event.item) } : event
}

/** Creates the run's agent, with the run's ledger and transfer policy. */
export function runHandler(
  { run, start, trunk, agent, record, time }: ReadyRun,
  facts: VoiceCallFacts,
): HandlerFactory {
  run.redact(agent.plan.settings.redaction, { ...facts.variables, ...facts.context }, facts.history)
  return agentHandler({
    agent: {
      ...agent,
      ledger: () => run.ledger,
      transferPolicy: policyOf(start),
      transfers: { refer: trunk.details.refer ?? true, written: number => writtenCalledNumber(number, trunk) },
    },
    facts,
    time,
    onUsage: usage => record.used(usage),
    ...(run.storesInputs && {
      recording: {
        versions: { ...codeVersions(), plan: `${start.agent_id}/${start.version}` },
        onRecorded: recorded => record.recorded(recorded),
      },
    }),
  })
}

export function factsOf(start: StartingRun): VoiceCallFacts {
  const { run_id, agent_id, version, channel, from_number, to_number, dynamic_variables } = start
  return {
    call: { run_id, agent_id, agent_version: version, channel, from_number, to_number },
    variables: dynamic_variables,
  }
}

/** Decides to which numbers the run may dial and transfer. */
export function policyOf(start: StartingRun): (destination: string) => PolicyDecision {
  const rules: DestinationRules = {
    allowedCountries: start.destinations?.countries ?? null,
    ownNumbers: start.own_numbers,
    allowPrefixes: start.destinations?.allow_prefixes ?? [],
    mayDial: start.can_dial,
  }
  return destination => judgeDestination(destination, rules)
}

/** Whether the agent's calls are recorded; default yes. */
export function wantsRecording({ recording }: Pick<Plan, 'recording'>): boolean {
  return recording?.required !== false
}
