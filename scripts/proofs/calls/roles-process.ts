import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '../../../packages/cli/bin/parley.mjs')
const READY_TIMEOUT_MS = 180_000
const EXIT_TIMEOUT_MS = 90_000
/** Characters. Room for the lines of a call among those of an outage on a busy machine. */
const MAX_OUTPUT = 200_000

/** `parley serve --role …` as a process of its own, which can be killed and restarted. */
export class RolesProcess {
  readonly roles: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #program: string
  #child: ChildProcess | null = null
  #output = ''

  /** `environment`: added to the inherited one. `program`: a file that Node runs; default `parley` of this checkout. */
  constructor(roles: string, environment: Readonly<Record<string, string>>, program = PROGRAM) {
    const { DATABASE_URL: _, REDIS_URL: __, ...inherited } = process.env
    this.roles = roles
    this.#program = program
    this.#environment = { ...inherited, ...environment }
  }

  get isRunning(): boolean {
    const child = this.#child
    return child !== null && child.exitCode === null && child.signalCode === null
  }

  /** Process id; null while it is not running. */
  get pid(): number | null {
    return this.isRunning ? this.#child!.pid! : null
  }

  /** The end of its output, over all restarts. */
  get output(): string {
    return this.#output
  }

  /** Resolves when the process prints that it is ready. Rejects with its output. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [this.#program, 'serve', '--role', this.roles], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    let output = ''
    const ready = Promise.withResolvers<void>()
    const failed = () =>
      ready.reject(new Error(`parley serve --role ${this.roles} is not ready:\n${output.slice(-3000)}`))
    const onOutput = (chunk: Buffer) => {
      output = (output + chunk).slice(-MAX_OUTPUT)
      this.#output = (this.#output + chunk).slice(-MAX_OUTPUT)
      if (output.includes('Parley is ready')) ready.resolve()
    }
    child.stdout.on('data', onOutput)
    child.stderr.on('data', onOutput)
    child.once('error', failed)
    child.once('exit', failed)
    const timer = setTimeout(failed, READY_TIMEOUT_MS)
    await ready.promise.finally(() => clearTimeout(timer))
  }

  /** Sends SIGKILL and waits for the exit. */
  async kill(): Promise<void> {
    if (!this.isRunning) return
    const child = this.#child!
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Resolves with the exit code; null: a signal ended the process. */
  async exited(): Promise<number | null> {
    if (this.isRunning) await once(this.#child!, 'exit')
    return this.#child?.exitCode ?? null
  }

  /** Sends SIGINT, which ends live calls, and waits for the exit. */
  async stop(): Promise<void> {
    if (!this.isRunning) return
    const child = this.#child!
    const exited = once(child, 'exit')
    child.kill('SIGINT')
    const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT_MS)
    await exited.finally(() => clearTimeout(timer))
  }
}
