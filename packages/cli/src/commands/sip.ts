import { readFile } from 'node:fs/promises'
import { decodeFile } from '@parley/sip'
import { parseCommand, UsageError } from '../usage.ts'

const USAGE = 'parley sip decode FILE   (FILE may be - for standard input)'
const HELP = [
  '',
  'Parses a SIP message and prints it as JSON. Exit code 0: a user agent accepts it; 2: it is refused or dropped.',
]
const MAX_BYTES = 4 * 1024 * 1024

/** Exit code 0: a user agent accepts the message; 2: it is refused or dropped; 1: the file cannot be read. */
export async function sip(args: string[]): Promise<number> {
  const { positionals } = parseCommand(args, {}, USAGE, HELP)
  const [verb, file] = positionals
  if (verb !== 'decode' || file === undefined || positionals.length !== 2) throw new UsageError(`usage: ${USAGE}`)
  const bytes = file === '-' ? await readStandardInput() : await readFile(file)
  const outcome = decodeFile(bytes)
  process.stdout.write(`${JSON.stringify(outcome.json, null, 2)}\n`)
  return outcome.exitCode
}

async function readStandardInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`standard input is longer than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
