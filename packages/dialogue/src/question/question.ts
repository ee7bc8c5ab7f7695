/** The question that the caller is answering: what the agent said last, and what the flow waits for. */
export interface Question {
  /** The agent's last words, as they were heard; empty: it has only begun to ask. */
  readonly agentWords: string
  /** Conditions of the node's edges, in words. */
  readonly conditions: readonly string[]
  /** Values that the flow reads out of the answer. */
  readonly fields: readonly AnswerField[]
}

export interface AnswerField {
  readonly name: string
  readonly description: string
  readonly type: 'string' | 'number' | 'boolean' | 'enum'
  /** With the type `enum`. */
  readonly choices?: readonly string[]
}

/** What kind of answer a question asks for. */
export type ExpectedAnswer =
  | { readonly kind: 'yes-no' | 'date' | 'quantity' | 'spelling' | 'address' }
  /** `words`: values that the flow will read out of the answer. */
  | { readonly kind: 'open' | 'unknown'; readonly words?: ReadonlySet<string> }
  /** `isFull`: more than a first name. */
  | { readonly kind: 'name'; readonly isFull: boolean }
  /** One of these words, or an ordinal. */
  | { readonly kind: 'choice'; readonly words: ReadonlySet<string> }
  /** A dictated number. `digits`: how many digits it has; null: unknown. */
  | { readonly kind: 'number'; readonly digits: { readonly min: number; readonly max: number } | null }
