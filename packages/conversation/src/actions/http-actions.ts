import type { HttpAction } from '@parley/flow'
import type { ActionOutcome, ActionRequest } from '../ports.ts'
import { HttpActionCall, type HttpActionsOptions } from './http-action-call.ts'

/**
 * Runs HTTP actions as ledger effects: each is recorded and decided (`secret_missing`, `address_not_allowed` and
 * `run_not_active` deny it) before it is sent, and each response leaves a receipt. A 2xx response succeeds, any other fails
 * (`http_404`), a failed connection fails (`not_connected`), a missing response is uncertain (`timeout`, `no_answer`). GET
 * requests and requests with an effect key are retried after a lost or 5xx response: at most 3 sends within `timeout_ms`.
 * Nothing is sent without the ledger (`ledger_unavailable`). Further codes of unsent actions: `policy_denied`,
 * `policy_unavailable` (secrets cannot be read), `bad_url`, `request_too_large`, `internal`.
 */
export class HttpActions {
  readonly #options: Required<HttpActionsOptions>

  constructor(options: HttpActionsOptions) {
    this.#options = { portTimeoutMs: 5000, ...options }
  }

  run(request: ActionRequest<HttpAction>, signal: AbortSignal): Promise<ActionOutcome> {
    return new HttpActionCall(this.#options, request, signal).run()
  }
}
