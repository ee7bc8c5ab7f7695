/** What a condition can speak of that a turn shows otherwise than by the same word. */
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
  | 'name'
  | 'email'
  | 'details'
  | 'anything'
  | 'order'
  | 'succeeded'
  | 'failed'

/** The everyday words of a language, folded. General language only: no words of any one trade's calls. */
export interface Lexicon {
  /** Words that say nothing about what a sentence is about. */
  readonly grammar: ReadonlySet<string>
  /** Of conditions: "the caller wants", "says that". */
  readonly telling: ReadonlySet<string>
  /** Of those: the caller asks, and does not give. */
  readonly asking: ReadonlySet<string>
  /** Of those: the caller wants something. */
  readonly wanting: ReadonlySet<string>
  readonly subjects: ReadonlySet<string>
  /** What a speaker begins with while thinking. */
  readonly fillers: ReadonlySet<string>
  readonly negators: ReadonlySet<string>
  /** After these, a "no" at the beginning was an answer and negates nothing. */
  readonly notNegated: ReadonlySet<string>
  /** Where a negation ends. */
  readonly turns: ReadonlySet<string>
  readonly or: ReadonlySet<string>
  readonly and: ReadonlySet<string>
  /** Affirmations that open a turn. */
  readonly yes: readonly string[]
  /** Those that affirm where they are the whole turn. */
  readonly yesAlone: readonly string[]
  /** Those that affirm wherever they stand. */
  readonly yesAnywhere: readonly string[]
  readonly no: readonly string[]
  /** Per concept: what a condition calls it, and the words of a turn that show it. */
  readonly wordsOfConcepts: Readonly<Record<Concept, readonly [condition: readonly string[], turn: readonly string[]]>>
  /** Words that mean nearly the same. */
  readonly alike: readonly (readonly string[])[]
  /** Words that open a question which yes or no cannot answer. */
  readonly openQuestions: ReadonlySet<string>
  readonly questions: ReadonlySet<string>
  /** What stands around an answer. */
  readonly politeness: readonly string[]
}
