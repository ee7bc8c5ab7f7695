/** A long test, run by `npm run proof -- NAME`. Each is a module of this folder that exports `proof`. */
export interface Proof {
  readonly name: string
  /** Default time limit. */
  readonly seconds: number
  /** Default number of trials. */
  readonly count: number
  run(options: ProofOptions): Promise<ProofOutcome>
}

export interface ProofOptions {
  /** Seed of all random choices: the same seed and count repeat the same trials. */
  readonly seed: number
  readonly count: number
  readonly seconds: number
  /** Prints one JSON object of the report. */
  line(record: object): void
  /** Prints a progress line. */
  progress(text: string): void
}

export interface ProofOutcome {
  readonly ok: boolean
  /** The last line of the report. */
  readonly summary: object
}
