import type { CodeAction, HttpAction } from '@parley/flow'
import type { CodeRunner } from '../io/code-runner.ts'
import type { ActionOutcome, ActionRequest, ActionRunner, McpCall } from '../ports.ts'
import { runCodeAction } from './code-actions.ts'
import type { HttpActionsOptions } from './http-action-call.ts'
import { HttpActions } from './http-actions.ts'
import { runMcpCall } from './mcp-actions.ts'

export interface AgentActionsOptions extends HttpActionsOptions {
  /** Runs the code of authors. */
  readonly code: CodeRunner
}

/** Runs every kind of action as a ledger effect: HTTP requests (text messages are such), authors' code, and tools of MCP servers. */
export class AgentActions implements ActionRunner {
  readonly #options: AgentActionsOptions
  readonly #http: HttpActions

  constructor(options: AgentActionsOptions) {
    this.#options = options
    this.#http = new HttpActions(options)
  }

  run(request: ActionRequest, signal: AbortSignal): Promise<ActionOutcome> {
    switch (request.action.kind) {
      case 'http':
        return this.#http.run(request as ActionRequest<HttpAction>, signal)
      case 'code':
        return runCodeAction(this.#options, request as ActionRequest<CodeAction>, signal)
      case 'mcp':
        return runMcpCall(this.#options, request as ActionRequest<McpCall>, signal)
    }
  }
}
