import type { CodeAction, HttpAction, McpAction, Plan } from '@parley/flow'
import type { Ms } from '@parley/kernel'

/** Facts about the conversation that an action sends to its server. */
export interface CallFacts {
  readonly run_id: string | null
  readonly agent_id: string | null
  readonly agent_version: number | null
  readonly channel: 'phone' | 'web' | 'cloud'
  /** E.164; null on channels other than the phone. */
  readonly from_number: string | null
  readonly to_number: string | null
}

type McpServer = NonNullable<Plan['flow']['mcps']>[number]

/** An action as its runner gets it: a call of an MCP server comes with the server. */
export type RunnableAction = HttpAction | CodeAction | McpCall

export interface McpCall extends McpAction {
  readonly server: McpServer
}

/** One use of an action. */
export interface ActionRequest<Action extends RunnableAction = RunnableAction> {
  readonly action: Action
  /** Inferred arguments and constants. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** The node that uses the action; null: none does. */
  readonly node_id: string | null
  /** Number of earlier uses of the action in its node. */
  readonly ordinal: number
  readonly call: CallFacts
  /** The variables that were set. */
  readonly variables: Readonly<Record<string, string>>
  /** Fills in `{{variables}}` with their current values, which are not encoded. */
  readonly render: (text: string) => string
  /**
   * Resolves when the request may be sent: true, or false: the caller went on, and the effect fails with "superseded". Default:
   * the request is sent at once.
   */
  readonly hold?: Promise<boolean>
  /** Called once, when the ledger has stored the effect. */
  readonly onPhase: (phase: ActionPhase) => void
}

export interface ActionPhase {
  readonly phase: 'started'
  readonly effect_id: string
}

export interface ActionOutcome {
  readonly outcome: 'succeeded' | 'failed' | 'uncertain'
  /** The body of the response, also of a failed one: parsed JSON, else text; null: there is none. */
  readonly body: unknown
  /** Empty: the ledger could not be written. */
  readonly effect_id: string
  readonly error_code: string | null
  readonly durationMs: Ms
}

/** Runs actions as ledger effects: none is sent before the ledger has it, and none is repeated that must not be. */
export interface ActionRunner {
  /** Never rejects. An abort stops a request that was not sent yet; a request that was sent runs to its end. */
  run(request: ActionRequest, signal: AbortSignal): Promise<ActionOutcome>
}

/** A passage of a document that was found for what the caller said. */
export interface KnowledgePassage {
  readonly document_id: string
  readonly title: string
  readonly chunk_index: number
  readonly text: string
  /** Cosine similarity of the words and the passage, 0 to 1. */
  readonly score: number
}

/** Searches the documents of the agent's environment. */
export interface KnowledgeSearcher {
  /** Rejects with a `ParleyError`, or with the reason of `signal`. `documentIds` null: all documents. */
  search(
    query: {
      readonly query: string
      readonly topK: number
      readonly minScore: number
      readonly documentIds: readonly string[] | null
    },
    signal: AbortSignal,
  ): Promise<{ readonly generation_id: string; readonly items: readonly KnowledgePassage[] }>
}
