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
  /** Values of the kind that is read. */
  readonly examples?: readonly string[]
}

/** What kind of answer a question asks for. */
export type ExpectedAnswer =
  | { readonly kind: 'yes-no' | 'date' | 'quantity' | 'spelling' | 'address' }
  /** `words`: values that the flow will read out of the answer, else words of the conditions that choose an edge. */
  | { readonly kind: 'open' | 'unknown'; readonly words?: ReadonlySet<string> }
  /** `isFull`: more than a first name. */
  | { readonly kind: 'name'; readonly isFull: boolean }
  /** One of these words, or an ordinal. */
  | { readonly kind: 'choice'; readonly words: ReadonlySet<string> }
  | { readonly kind: 'number'; readonly digits: NumberLength | null }

/** How many digits a dictated number has. `isExample`: as examples have; others may be shorter or longer. */
export interface NumberLength {
  readonly min: number
  readonly max: number
  readonly isExample?: true
}
