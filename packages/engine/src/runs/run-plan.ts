import type { EffectLedger, PolicyDecision } from '@parley/conversation'
import { type DestinationRules, judgeDestination } from '@parley/flow'
import type { OwnedRun } from '@parley/runs'
import type { StartingRun } from '@parley/store'
import type { CallPlan } from '../call-plan.ts'
import type { VoiceAgent, VoiceCallFacts } from '../voice/voice-agent.ts'
import type { CallRecord } from './call-record.ts'

/** The plan of a run's call: its agent with the run's ledger and policy, and the record that follows it. */
export function runPlan(
  run: OwnedRun,
  start: StartingRun,
  agent: VoiceAgent,
  record: CallRecord,
  recording: CallPlan['recording'],
): CallPlan {
  return {
    talk: { agent: agentInRun(agent, run.ledger, policyOf(start)), facts: factsOf(start) },
    recording,
    onCall: call => record.onCall(call),
    onEvent: (event, call) => record.onEvent(event, call),
    onUsed: used => record.used(used),
  }
}

/** The agent as it talks in one run: what it does outside is in the run's ledger, and goes where the run may. */
function agentInRun(
  agent: VoiceAgent,
  ledger: EffectLedger,
  transferPolicy: (destination: string) => PolicyDecision,
): VoiceAgent {
  return { ...agent, ledger: () => ledger, transferPolicy }
}

export function factsOf(start: StartingRun): VoiceCallFacts {
  const { run_id, agent_id, version, from_number, to_number, dynamic_variables } = start
  return {
    call: { run_id, agent_id, agent_version: version, channel: 'phone', from_number, to_number },
    variables: dynamic_variables,
  }
}

/** Where the run may dial and transfer to. */
export function policyOf(start: StartingRun): (destination: string) => PolicyDecision {
  const rules: DestinationRules = {
    allowedCountries: start.destinations?.countries ?? null,
    ownNumbers: start.own_numbers,
    allowPrefixes: start.destinations?.allow_prefixes ?? [],
    mayDial: start.can_dial,
  }
  return destination => judgeDestination(destination, rules)
}

/** Whether the agent wants the call recorded. */
export function wantsRecording({ plan }: StartingRun): boolean {
  return (plan as { readonly recording?: { readonly required?: boolean } }).recording?.required !== false
}
