import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Ms } from '@parley/kernel'
import { z } from 'zod'
import { CliError } from '../errors.ts'
import { PROGRAMS_DIRECTORY, type SpeechProgram } from './installation.ts'

interface SpeechServerOptions {
  readonly python: string
  readonly program: SpeechProgram
  readonly printLine: (line: string) => void
  /** Directory of the program; default that of this package. */
  readonly directory?: string
  /** Delay before the first restart, ms; doubled for each further one, up to a minute. Default 1000. */
  readonly restartMs?: Ms
}

/** Loading the weights takes a second, and much more on a busy machine. */
const READY_MS: Ms = 120_000
const RESTART_MS: Ms = 1000
const MAX_RESTART_MS: Ms = 60_000
/** A server that ran for this long is restarted without the delays of earlier failures. */
const STABLE_MS: Ms = 60_000
const MAX_ERROR_CHARACTERS = 2000

const readyLine = z.object({ port: z.int().min(1).max(65_535) })

/**
 * A local speech server: a process of its own that listens on loopback. It is restarted on the same port when it ends by itself, and ends
 * with this process.
 */
export class SpeechServer {
  readonly #options: SpeechServerOptions
  #child: ChildProcess | null = null
  #port = 0
  #closed = false
  #restart: NodeJS.Timeout | null = null
  #failures = 0

  private constructor(options: SpeechServerOptions) {
    this.#options = options
  }

  /** Resolves when the server answers. Throws `CliError` "speech_failed" if it does not start. */
  static async start(options: SpeechServerOptions): Promise<SpeechServer> {
    const server = new SpeechServer(options)
    try {
      await server.#launch()
    } catch (error) {
      await server.close()
      throw error
    }
    return server
  }

  get port(): number {
    return this.#port
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#restart !== null) clearTimeout(this.#restart)
    const child = this.#child
    if (child === null) return
    const ended = new Promise(resolve => child.once('close', resolve))
    child.kill('SIGKILL')
    await ended
  }

  async #launch(): Promise<void> {
    const { python, program, directory = PROGRAMS_DIRECTORY } = this.#options
    const child = spawn(python, [join(directory, program.script), '--port', String(this.#port)], {
      // The keys of this process are none of its business.
      env: { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child = child
    const began = performance.now()
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk}`.slice(-MAX_ERROR_CHARACTERS)
    })
    // The process may have ended before it has read everything.
    child.stdin.on('error', () => {})
    const ready = Promise.withResolvers<number>()
    const lines = createInterface({ input: child.stdout })
    lines.on('line', line => {
      const parsed = readyLine.safeParse(objectIn(line))
      if (parsed.success) ready.resolve(parsed.data.port)
    })
    const late = setTimeout(() => {
      errors += `\nnot ready after ${READY_MS / 1000} s`
      child.kill('SIGKILL')
    }, READY_MS)
    let isReady = false
    const end = (reason: string) => {
      if (this.#child !== child) return
      this.#child = null
      ready.reject(new CliError('speech_failed', `${program.script} did not start: ${lastLine(errors) || reason}`))
      if (!isReady || this.#closed) return
      this.#failures = performance.now() - began >= STABLE_MS ? 0 : this.#failures
      this.#scheduleRestart(lastLine(errors) || reason)
    }
    child.once('error', error => end(error.message))
    child.once('close', (code, signal) => end(`it ended with ${signal ?? `exit code ${code}`}`))
    try {
      this.#port = await ready.promise
      isReady = true
    } finally {
      clearTimeout(late)
    }
  }

  #scheduleRestart(reason: string): void {
    const { program, printLine, restartMs = RESTART_MS } = this.#options
    const delayMs = Math.min(MAX_RESTART_MS, restartMs * 2 ** this.#failures++)
    printLine(
      `The local server ${program.vendor}/${program.model} ended (${reason}); it starts again in ${delayMs / 1000} s.`,
    )
    this.#restart = setTimeout(() => {
      this.#restart = null
      this.#launch().catch((error: unknown) => {
        if (!this.#closed) this.#scheduleRestart(error instanceof Error ? error.message : String(error))
      })
    }, delayMs)
  }
}

function objectIn(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)!.trim()
}
