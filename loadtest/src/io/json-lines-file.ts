import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A file of one JSON value a line, appended to at once: what was appended is read by others, also after a kill -9. */
export class JsonLinesFile {
  #file: number | null

  /** Opens or creates `path` for appending; throws as `openSync` does. */
  constructor(path: string) {
    this.#file = openSync(path, 'a', 0o600)
  }

  /** Throws when the disk does; nothing after `close`. */
  append(value: unknown): void {
    if (this.#file !== null) writeSync(this.#file, `${JSON.stringify(value)}\n`)
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

/** The values of such a file, one after the other. A last line that its writer did not finish is left out; any other that is not JSON throws SyntaxError. */
export async function* readJsonLines(path: string): AsyncGenerator<unknown> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  let torn: unknown
  for await (const line of lines) {
    if (torn !== undefined) throw torn
    if (line === '') continue
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch (error) {
      torn = error
      continue
    }
    yield value
  }
}
