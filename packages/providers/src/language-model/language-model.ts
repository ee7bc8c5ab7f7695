import type { AudioFormat, Ms } from '@parley/kernel'

/** The language-model port: chat with tools, streamed. One implementation serves many conversations at once. */
export interface LanguageModel {
  readonly identity: ModelIdentity
  /** Why the model cannot answer ("no key"), or null when it can. */
  readiness(): Promise<string | null>
  /**
   * Generates one answer. The iteration ends after "finished". When `signal` aborts it ends at once, without an error,
   * after at most a "usage" with the counts so far. Failures throw `ProviderError`: "model_unreachable" and "model_busy"
   * (both retryable), "model_failed" (see its `retryable`), "model_refused" (key, quota or content), "prompt_too_long".
   */
  generate(request: GenerationRequest, signal: AbortSignal): AsyncIterable<GenerationEvent>
  /** Prepares for a call: opens a connection, and resolves then. Best effort, never rejects; an unused connection closes after its idle time. */
  warm?(): Promise<void>
  close(): Promise<void>
}

export interface ModelIdentity {
  /** The vendor or host: "openai", "simulated_hosted", … */
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
  /** Arguments must match the schemas of their tools, where the service can guarantee it and the schema allows it. Default false. */
  readonly strictTools?: boolean
  /** A model that can speak answers with "speech" events; any other model ignores it. Default false: with text. */
  readonly spoken?: boolean
  /** 0 to 2; default the model's. */
  readonly temperature?: number
  /** Default the model's. */
  readonly maxOutputTokens?: number
  /**
   * The request in structured form, for rule-based models. It contains nothing that `messages` and `tools` do not contain;
   * other models ignore it.
   */
  readonly brief?: GenerationBrief
}

/** A tool that stands for a transition of the flow: the model calls it when `condition` holds. */
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
  /** Call the tool of one transition, or end without text. */
  | { readonly purpose: 'decide'; readonly language: string; readonly transitions: readonly TransitionTool[] }
  /** Call `tool` with arguments from the conversation. */
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
  /** The model's id, or a generated one when it gave none; unique within the answer. */
  readonly id: string
  readonly name: string
  /** The arguments as the model wrote them; normally JSON, but not validated. */
  readonly argumentsText: string
}

/** One answer that a model speaks itself. */
export interface ModelSpeech {
  /** Format of the audio of all its events. */
  readonly format: AudioFormat
  /**
   * Reports that playback is over: `audioMs` of the answer were played, which the caller heard as `text`. The model forgets the
   * rest. Called at most once, also while the answer is still being generated.
   */
  heard(audioMs: Ms, text: string): void
}

export type GenerationEvent =
  /** A fragment of the text; never empty. */
  | { readonly type: 'text'; readonly delta: string }
  /** A piece of an answer that the model speaks itself: words of its transcript, audio, or both. The words may come before their audio. */
  | { readonly type: 'speech'; readonly delta: string; readonly samples: Int16Array; readonly speech: ModelSpeech }
  /** The model begins a tool call; its arguments are not complete yet. */
  | { readonly type: 'tool-call-started'; readonly id: string; readonly name: string }
  /** A fragment of the arguments, split anywhere. Fragments of several calls may alternate. */
  | { readonly type: 'tool-call-arguments'; readonly id: string; readonly delta: string }
  /**
   * The call is complete: the fragments joined. `arguments` is null when they are no JSON object (an empty text counts
   * as {}). Comes before "finished"; a call that is cut off by an abort, an error or "length" is not reported.
   */
  | {
      readonly type: 'tool-call'
      readonly call: ToolCall
      readonly arguments: Readonly<Record<string, unknown>> | null
    }
  /** Billed tokens, at most once, when the service reports them; for an abandoned answer, the counts received so far. */
  | {
      readonly type: 'usage'
      readonly inputTokens: number
      readonly outputTokens: number
      readonly cachedInputTokens: number
      /** How many of the tokens are audio, which services charge at another price. Default none. */
      readonly audio?: { readonly inputTokens: number; readonly outputTokens: number }
    }
  /** The last event. */
  | { readonly type: 'finished'; readonly reason: 'stop' | 'tool-calls' | 'length' | 'content-filter' }
