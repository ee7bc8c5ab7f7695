/** The language-model port: chat with tools, streamed. One implementation serves many conversations at once. */
export interface LanguageModel {
  readonly identity: ModelIdentity
  /** Why it cannot answer here ("no key"), or null when it can. */
  readiness(): Promise<string | null>
  /**
   * One answer. Iterating ends normally after "finished", or at once, without an error, when `signal` aborts, by then with
   * at most a "usage" of what the service had told; what the model says afterwards is dropped. Failures throw `ParleyError`: "model_unreachable", "model_busy" (both retryable),
   * "model_failed" (its `retryable` tells), "model_refused" (key, quota or content), "prompt_too_long".
   */
  generate(request: GenerationRequest, signal: AbortSignal): AsyncIterable<GenerationEvent>
  close(): Promise<void>
}

export interface ModelIdentity {
  /** Who runs it: "openai", "simulated_hosted", … */
  readonly provider: string
  /** The model's name there. */
  readonly model: string
}

export interface GenerationRequest {
  /** Oldest first, at least one. */
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ToolDeclaration[]
  /** Default "auto". `name`: this tool and no other. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string }
  /** 0 to 2; default the model's. */
  readonly temperature?: number
  /** Default the model's. */
  readonly maxOutputTokens?: number
  /**
   * What is asked for, in parts, for models that work by rules instead of reading prose. It says nothing that `messages`
   * and `tools` do not say; models that read ignore it.
   */
  readonly brief?: GenerationBrief
}

/** A tool that is a way on in the flow: calling it says that `condition` holds. */
export interface TransitionTool {
  readonly tool: string
  readonly condition: string
}

export type GenerationBrief =
  /** Say something by `instruction`, or take a transition, or call another tool. `reason`: what the reply is to (a caller's turn, a silence, a tool's result…). */
  | {
      readonly purpose: 'reply'
      readonly language: string
      readonly instruction: string
      readonly reason: string
      readonly transitions: readonly TransitionTool[]
    }
  /** Take one of the transitions, or say nothing. */
  | { readonly purpose: 'decide'; readonly language: string; readonly transitions: readonly TransitionTool[] }
  /** Call `tool` with arguments read off the conversation. */
  | {
      readonly purpose: 'arguments' | 'digits' | 'transfer_destination' | 'variables'
      readonly language: string
      readonly prompt: string
      readonly tool: string
    }

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string }

export interface ToolDeclaration {
  /** Letters, digits, "_" and "-"; at most 64. */
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ToolCall {
  /** The model's own, or made up where it gave none; unique within the answer. */
  readonly id: string
  readonly name: string
  /** As the model wrote them: JSON, or what it takes for JSON. */
  readonly argumentsText: string
}

export type GenerationEvent =
  /** A piece of what is to be said; never empty. */
  | { readonly type: 'text'; readonly delta: string }
  /** The model begins to call a tool; nothing may be done yet. */
  | { readonly type: 'tool-call-started'; readonly id: string; readonly name: string }
  /** A fragment of its arguments; cut anywhere. Fragments of several calls may alternate. */
  | { readonly type: 'tool-call-arguments'; readonly id: string; readonly delta: string }
  /**
   * The call is complete: the fragments joined. `arguments` is null when they are no JSON object (an empty text counts
   * as {}). Comes before "finished"; a call cut off by an abort, an error or "length" never gets here.
   */
  | {
      readonly type: 'tool-call'
      readonly call: ToolCall
      readonly arguments: Readonly<Record<string, unknown>> | null
    }
  /** Tokens, as the service bills them; at most once, where it tells. Of an answer that was given up: as far as it told. */
  | {
      readonly type: 'usage'
      readonly inputTokens: number
      readonly outputTokens: number
      readonly cachedInputTokens: number
    }
  /** The last event. */
  | { readonly type: 'finished'; readonly reason: 'stop' | 'tool-calls' | 'length' | 'content-filter' }
