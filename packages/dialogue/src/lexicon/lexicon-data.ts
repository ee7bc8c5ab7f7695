/** Words of one language, as data: single words with blanks between them, phrases with semicolons or at a line's end. */
export interface LexiconData {
  /** BCP 47 primary tag. */
  readonly language: string
  /** Words that do not end a sentence: articles, conjunctions, prepositions, subject pronouns. */
  readonly dangling: string
  /** Words that rarely end a sentence: auxiliaries, verbs that need an object. */
  readonly weaklyDangling: string
  /** "um": the speaker keeps the turn. Phrases. */
  readonly fillers: string
  /** "let me see": the speaker asks for time. Phrases. */
  readonly hesitations: string
  /** Whole turns, however short. Phrases. */
  readonly answers: string
  /** Endings of a turn, such as "please". Phrases. */
  readonly closers: string
  readonly questionWords: string
  /** Words for the digits 0 to 9. */
  readonly digits: string
  /** Number words of more than one digit. */
  readonly numbers: string
  /** "number", "card": many digits follow. */
  readonly numberNames: string
  /** "spelled": single letters follow. */
  readonly spellingNames: string
  /** Parts of addresses that need a continuation ("dot"), and months (a day or a year may follow). */
  readonly connectors: string
  readonly months: string
  /** Words after which a value comes: "my name is". */
  readonly announcers: string
  /** Words of which a day or a time of day consists. */
  readonly dateWords: string
  /** Verbs that stand for another one at the end of a short answer: "my neighbour did". */
  readonly proVerbs: string
  /** Words before a month that no day follows: "since April". */
  readonly monthPrepositions: string
  /** "first": words that choose one of several things that were offered. */
  readonly ordinals: string
  /** Phrases of a listener who does not want the turn. */
  readonly backchannels: string
  /** Backchannels that also answer a question. Phrases. */
  readonly assents: string
  /** Acknowledgements that accept what is offered: they answer a question that is still being asked. Phrases. */
  readonly acceptances: string
  /** Beginnings of words that take back what the caller has just said. Phrases. */
  readonly corrections: string
  /** "I don't know": after a filler the speaker thinks aloud. Phrases. */
  readonly undecided: string
  /** Phrases that always interrupt the agent. */
  readonly stops: string
  /** Phrases. */
  readonly greetings: string
  /** Backchannels of the agent. Phrases. */
  readonly agentBackchannels: string
}
