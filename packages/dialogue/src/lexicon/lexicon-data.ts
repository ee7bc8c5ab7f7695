/** Words of one language, as data: single words with blanks between them, phrases with semicolons or at a line's end. */
export interface LexiconData {
  /** BCP 47 primary tag. */
  readonly language: string
  /** Nobody ends a sentence with one of these: articles, conjunctions, prepositions, subject pronouns. */
  readonly dangling: string
  /** Sentences seldom end with one of these: auxiliaries, verbs that want an object. */
  readonly weaklyDangling: string
  /** "um": the speaker keeps the turn. Phrases. */
  readonly fillers: string
  /** "let me see": the speaker asks for time. Phrases. */
  readonly hesitations: string
  /** Whole turns, however short. Phrases. */
  readonly answers: string
  /** What ends a turn, whatever stands before it. Phrases. */
  readonly closers: string
  readonly questionWords: string
  /** 0 to 9, and what stands for them. */
  readonly digits: string
  /** Number words of more than one digit. */
  readonly numbers: string
  /** "number", "card": digits that follow are many. */
  readonly numberNames: string
  /** "spelled": single letters follow. */
  readonly spellingNames: string
  /** Parts of addresses that want something after them ("dot"), and months (a day or a year may follow). */
  readonly connectors: string
  readonly months: string
  /** What a listener says without wanting the turn. Phrases. */
  readonly backchannels: string
  /** Of those, what would answer a question as well. Phrases. */
  readonly assents: string
  /** What interrupts whoever is speaking. Phrases. */
  readonly stops: string
  /** Phrases. */
  readonly greetings: string
  /** What the agent says while it listens. Phrases. */
  readonly agentBackchannels: string
}
