/**
 * What a class of callee says: a wording takes one line of each pool, in order. A line belongs to one half of the benchmark, so that no
 * wording has a line of the other half. `{name}`, `{company}`, `{number}` are filled in; `|` ends an utterance: a pause follows.
 */
export type Pools = readonly (readonly string[])[]

export type WordingClass =
  | 'person'
  | 'company'
  | 'voicemail'
  | 'operator-voicemail'
  | 'mailbox_unavailable'
  | 'ivr'
  | 'hold-queue'
  | 'screener'
  | 'screener-question'
  | 'announcement'
  | 'reply'

export interface LanguageWordings {
  readonly names: readonly string[]
  readonly companies: readonly string[]
  readonly wordings: Readonly<Record<WordingClass, Pools>>
}

/** The lines of a text, one a line. */
export function lines(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}
