import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SrtpKey } from '@parley/media/testing'
import { requires } from './skip.ts'

const HEADER = '/usr/include/srtp2/srtp.h'

/** What the tests against libsrtp2 need. */
export function requiresLibsrtp(): { readonly missing: boolean; readonly note: string } {
  const compiler = requires({ 'g++': 'g++' })
  if (compiler.missing || existsSync(HEADER)) return compiler
  return { missing: true, note: ' (skipped: libsrtp2 is not installed: apt-get install libsrtp2-dev)' }
}

type LibsrtpOperation = 'protect' | 'unprotect' | 'protect_rtcp' | 'unprotect_rtcp'

/** libsrtp2 (Debian), an SRTP implementation that shares no code with Parley's. */
export class Libsrtp {
  readonly #program: string

  /** Compiles the program into `directory`. */
  constructor(directory: string) {
    this.#program = join(directory, 'libsrtp-transform')
    const source = join(import.meta.dirname, 'libsrtp/transform.cc')
    execFileSync('g++', ['-std=c++17', '-O1', '-Wall', '-o', this.#program, source, '-lsrtp2'])
  }

  /** Runs the operations in turn, in new sessions with this key; null for each packet that libsrtp refuses. */
  run(key: SrtpKey, steps: readonly (readonly [LibsrtpOperation, Uint8Array])[]): (Uint8Array | null)[] {
    const input = steps.map(([operation, packet]) => `${operation} ${Buffer.from(packet).toString('hex')}\n`).join('')
    const output = execFileSync(this.#program, [key.suite, Buffer.from(key.keyAndSalt).toString('hex')], {
      input,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    return output
      .trimEnd()
      .split('\n')
      .map(line => (line.startsWith('error') ? null : new Uint8Array(Buffer.from(line, 'hex'))))
  }
}
