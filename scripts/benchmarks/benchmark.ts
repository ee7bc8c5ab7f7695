/** A benchmark: `npm run bench -- NAME`. Each is a folder beside this file, named like it, whose benchmark.ts exports `benchmark`. */
export interface Benchmark {
  readonly name: string
  /** Names of its command line options besides `--out`; each takes a value. */
  readonly options: readonly string[]
  /** Resolves with the last line of the report. Rejects if the machine cannot run it or a result is wrong. */
  run(options: BenchmarkOptions): Promise<object>
}

export interface BenchmarkOptions {
  /** Value of an option; undefined: it was not given. */
  option(name: string): string | undefined
  /** Prints one JSON object of the report. */
  line(record: object): void
  /** Prints a progress line. */
  progress(text: string): void
}
