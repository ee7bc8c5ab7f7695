import type { CodeAction } from '@parley/flow'
import type { Time } from '@parley/kernel'
import type { CodeRunner } from '../io/code-runner.ts'
import type { EffectLedger } from '../ledger.ts'
import type { ActionOutcome, ActionRequest } from '../ports.ts'
import { RecordedEffect } from './recorded-effect.ts'

interface CodeActionsOptions {
  readonly ledger: EffectLedger
  readonly code: CodeRunner
  readonly time: Time
}

/**
 * Runs the code of an agent's author. It acts on nothing outside, so it needs no permission, but its row shows that it ran. The result is the value
 * that it returns; error codes: `code_failed` (it threw, or returned no JSON value), `code_timeout`, `code_memory`, `code_unavailable`
 * (too much code is waiting).
 */
export async function runCodeAction(
  { ledger, code, time }: CodeActionsOptions,
  request: ActionRequest<CodeAction>,
  signal: AbortSignal,
): Promise<ActionOutcome> {
  const effect = new RecordedEffect({ ledger, time }, request)
  const refused = await effect.begin('none')
  if (refused !== null) return refused
  if (signal.aborted) return effect.settle('failed', 'run_not_active')
  const { action, call, variables } = request
  const result = await code.run({
    code: action.code,
    dv: variables,
    metadata: { ...call },
    timeoutMs: action.timeout_ms,
  })
  if (result.ok) return effect.settle('succeeded', null, result.value)
  return effect.settle('failed', result.code, { error: result.message })
}
