import type { Readable } from 'node:stream'

const LONGEST_LINE = 65_536

/** Calls `onLine` for every line of the stream; lines longer than 64 KiB are skipped. Ends with the stream. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let held = ''
  let skipping = false
  stream.setEncoding('utf8')
  stream.on('error', () => {})
  stream.on('data', (chunk: string) => {
    const parts = chunk.split('\n')
    for (const [index, part] of parts.entries()) {
      if (!skipping) held += part
      if (held.length > LONGEST_LINE) {
        skipping = true
        held = ''
      }
      if (index === parts.length - 1) break
      if (!skipping && held.trim() !== '') onLine(held)
      skipping = false
      held = ''
    }
  })
}
