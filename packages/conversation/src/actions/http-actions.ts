import type { ActionOutcome, ActionRequest, ActionRunner } from '../ports.ts'
import { HttpActionCall, type HttpActionsOptions } from './http-action-call.ts'

/**
 * HTTP actions, by the rules of effects: a row before anything is sent, a verdict (`secret_missing`,
 * `address_not_allowed`, `run_not_active`), a receipt for each answer. 2xx succeeded; any other answer failed
 * (`http_404`); never connected failed (`not_connected`); no answer is uncertain (`timeout`, `no_answer`). GET, and what
 * has `effect_key`, is sent again after a lost or 5xx answer, at most 3 sends within the action's `timeout_ms`. Nothing
 * is sent without the ledger (`ledger_unavailable`). Other codes of what was not sent: `policy_denied`,
 * `policy_unavailable` (secrets cannot be read), `run_not_active`, `bad_url`, `request_too_large`, `internal`.
 */
export class HttpActions implements ActionRunner {
  readonly #options: Required<HttpActionsOptions>

  constructor(options: HttpActionsOptions) {
    this.#options = { portTimeoutMs: 5000, ...options }
  }

  run(request: ActionRequest, signal: AbortSignal): Promise<ActionOutcome> {
    return new HttpActionCall(this.#options, request, signal).run()
  }
}
