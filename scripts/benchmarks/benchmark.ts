/** A benchmark: `npm run bench -- NAME`. Each is a folder beside this file, named like it, whose benchmark.ts exports `benchmark`. */
export interface Benchmark {
  readonly name: string
  /** Command line options that it takes besides `--out`, all with a value. */
  readonly options: readonly string[]
  /** Resolves with the last line of the report. Rejects when the machine cannot run it or when what it saw was wrong. */
  run(options: BenchmarkOptions): Promise<object>
}

export interface BenchmarkOptions {
  /** Value of an option, when it was given. */
  option(name: string): string | undefined
  /** One JSON object of the report. */
  line(record: object): void
  /** Prints a progress line. */
  progress(text: string): void
}
