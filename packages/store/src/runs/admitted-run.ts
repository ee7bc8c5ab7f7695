import type { Scope } from '@parley/contract'
import type { PlannedPublication } from '../publications.ts'
import type { Admission, RunRequest } from './admission.ts'
import type { RunRow } from './runs.ts'

/** The row that an admission has created, as `readRun` reads it in the same transaction. */
export function admittedRun(
  { owner_id, environment, tenant_id }: Scope,
  request: RunRequest,
  { digest, plan_schema_version }: Pick<PlannedPublication, 'digest' | 'plan_schema_version'>,
  { run_id, created_at }: Pick<Extract<Admission, { kind: 'admitted' }>, 'run_id' | 'created_at'>,
): RunRow {
  const { agent_id, version, channel } = request
  const isPhone = channel === 'phone'
  return {
    owner_id,
    environment,
    tenant_id,
    run_id,
    agent_id,
    publication: { agent_id, version, digest },
    plan_schema_version,
    channel,
    mode: request.mode,
    state: 'admitted',
    phone_state: isPhone ? 'admitted' : null,
    outcome: null,
    disposition: null,
    trigger: request.trigger,
    created_at,
    started_at: null,
    ended_at: null,
    connected_ms: null,
    from_number: request.from_number,
    to_number: request.to_number,
    contact: isPhone ? null : 'not_applicable',
    answered_by: null,
    successful: null,
    dynamic_variables: request.dynamic_variables,
    metadata: request.metadata,
    latency: null,
    analysis: null,
    test: request.test,
    caller_identity: request.caller_identity,
    quality: null,
  }
}
