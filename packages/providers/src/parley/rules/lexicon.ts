/** A meaning that a turn can express without the word that the condition uses for it. */
export type Concept =
  | 'agree'
  | 'decline'
  | 'done'
  | 'goodbye'
  | 'greeting'
  | 'thanks'
  | 'person'
  | 'repeat'
  | 'unsure'
  | 'wait'
  | 'number'
  | 'keys'
  | 'date'
  | 'time'
  | 'other date'
  | 'other time'
  | 'name'
  | 'email'
  | 'details'
  | 'anything'
  | 'order'
  | 'succeeded'
  | 'failed'

/** Everyday words of a language, folded. General language only, no terms of a particular business. */
export interface Lexicon {
  /** Function words, which do not show the topic of a sentence. */
  readonly grammar: ReadonlySet<string>
  /** Words that frame a condition and are not part of its topic: "the caller wants", "says that". */
  readonly framing: ReadonlySet<string>
  /** Framing words by which the caller asks about something instead of giving it. */
  readonly asking: ReadonlySet<string>
  /** Framing words by which the caller wants something. */
  readonly wanting: ReadonlySet<string>
  readonly subjects: ReadonlySet<string>
  /** Hesitation words at the beginning of a turn. */
  readonly fillers: ReadonlySet<string>
  readonly negators: ReadonlySet<string>
  /** Words before which an initial "no" is an answer and negates nothing. */
  readonly notNegated: ReadonlySet<string>
  /** Words that end the scope of a negation. */
  readonly turns: ReadonlySet<string>
  readonly or: ReadonlySet<string>
  readonly and: ReadonlySet<string>
  /** Affirmations that open a turn. */
  readonly yes: readonly string[]
  /** Affirmations that count only as the whole turn. */
  readonly yesAlone: readonly string[]
  /** Affirmations that count anywhere in a turn. */
  readonly yesAnywhere: readonly string[]
  readonly no: readonly string[]
  /** Per concept: its names in conditions, and the phrases of a turn that express it. */
  readonly wordsOfConcepts: Readonly<Record<Concept, readonly [condition: readonly string[], turn: readonly string[]]>>
  /** Groups of near-synonyms. */
  readonly synonyms: readonly (readonly string[])[]
  /** Words that begin a question which "yes" or "no" does not answer. */
  readonly openQuestions: ReadonlySet<string>
  readonly questions: ReadonlySet<string>
  /** Polite phrases around an answer. */
  readonly politeness: readonly string[]
}
