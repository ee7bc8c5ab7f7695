import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CallRow, CSV_HEADER, csvLine } from '../fleet/call-row.ts'
import { htmlReport } from '../fleet/report/html-report.ts'
import type { Sample } from '../fleet/results.ts'
import type { Summary } from '../fleet/summary.ts'

/** The folder of a run: `calls.csv` and `samples.jsonl` while it runs, then `summary.json` and `report.html`. */
export class RunFiles {
  readonly #folder: string
  readonly #calls: WriteStream
  readonly #samples: WriteStream

  private constructor(folder: string) {
    this.#folder = folder
    this.#calls = createWriteStream(join(folder, 'calls.csv'))
    this.#samples = createWriteStream(join(folder, 'samples.jsonl'))
    this.#calls.write(CSV_HEADER)
  }

  /** Rejects with the system's error when the folder cannot be made. */
  static async open(folder: string): Promise<RunFiles> {
    await mkdir(folder, { recursive: true })
    return new RunFiles(folder)
  }

  get report(): string {
    return join(this.#folder, 'report.html')
  }

  addCall(row: CallRow): void {
    this.#calls.write(csvLine(row))
  }

  addSample(sample: Sample): void {
    this.#samples.write(`${JSON.stringify(sample)}\n`)
  }

  async finish(summary: Summary, samples: readonly Sample[], description: string): Promise<void> {
    await writeFile(join(this.#folder, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`)
    await writeFile(this.report, htmlReport(summary, samples, description))
  }

  async close(): Promise<void> {
    await Promise.all([this.#calls, this.#samples].map(stream => new Promise<void>(done => stream.end(() => done()))))
  }
}
