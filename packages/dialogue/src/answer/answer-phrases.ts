/**
 * Phrases of what answers a call, in one language, as data. One phrase a line: its weight, then its words in lower case and without
 * accents. 1 is proof by itself; weights of different phrases add up. `a/b` is either word, `(x)` may be missing, `~` stands for up to
 * four words, `+` for one to four, `#` for a digit or its name. `^` binds the phrase to the beginning of what was said, `$` to its end.
 */
export interface AnswerPhrases {
  /** BCP 47 primary tag. */
  readonly language: string
  readonly digits: string
  readonly human: string
  /** Phrases of recordings of several classes, such as "the person you are calling": they add to the score of each machine. */
  readonly recording: string
  readonly voicemail: string
  readonly mailbox_unavailable: string
  readonly ivr: string
  readonly screener: string
  readonly announcement: string
}
