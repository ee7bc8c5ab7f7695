import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const PROGRAM = join(import.meta.dirname, 'soak', 'soak-process.ts')
const COLLECTOR = pathToFileURL(join(import.meta.dirname, '..', 'benchmarks', 'collect-garbage.ts')).href

/** A leak that the proof must find: of memory with each call, of the others once. */
type Leak = 'memory' | 'a handle' | 'a port' | 'a place'

export interface SoakOptions {
  readonly seed: number
  /** Calls that begin in a second. */
  readonly perSecond: number
  readonly seconds: number
  readonly planted: readonly Leak[]
}

/**
 * For `seconds` begins `count` calls a second over TLS and SRTP, recorded, inbound and outbound, ended by either side, in a process of its own;
 * then that process holds what it held while it was idle before: memory, handles, ports, places of calls.
 */
export async function proveSoak(options: ProofOptions, planted: readonly Leak[] = []): Promise<ProofOutcome> {
  const { seed, count: perSecond, seconds, line, progress } = options
  const soak: SoakOptions = { seed, perSecond, seconds, planted }
  const parameters = ['--expose-gc', '--import', COLLECTOR, PROGRAM, JSON.stringify(soak)]
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let outcome: ProofOutcome | null = null
  try {
    for await (const text of createInterface(child.stdout)) {
      const record = JSON.parse(text) as ProofOutcome | { readonly calls?: number }
      if ('summary' in record) {
        outcome = record
        continue
      }
      line({ proof: 'soak', ...record })
      if (record.calls !== undefined) progress(`${record.calls} calls`)
    }
  } finally {
    child.kill()
    await exited
  }
  if (outcome === null) throw new Error('the process of the soak ended without a result; see its standard error')
  return outcome
}

/** `--seconds`: how long; `--count`: calls that begin in a second. */
export const proof: Proof = { name: 'soak', seconds: 1800, count: 20, run: options => proveSoak(options) }
