import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '../../../packages/cli/bin/parley.mjs')
const READY_WITHIN_MS = 180_000
const ENDED_WITHIN_MS = 30_000
const KEPT_OUTPUT = 20_000

/** `parley serve --role …` as a process of its own, which can be killed and started again. */
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

  /** The last of what it wrote, of every life. */
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
    let said = ''
    const ready = Promise.withResolvers<void>()
    const failed = () =>
      ready.reject(new Error(`parley serve --role ${this.roles} is not ready:\n${said.slice(-3000)}`))
    const note = (chunk: Buffer) => {
      said = (said + chunk).slice(-KEPT_OUTPUT)
      this.#output = (this.#output + chunk).slice(-KEPT_OUTPUT)
      if (said.includes('Parley is ready')) ready.resolve()
    }
    child.stdout.on('data', note)
    child.stderr.on('data', note)
    child.once('error', failed)
    child.once('exit', failed)
    const timer = setTimeout(failed, READY_WITHIN_MS)
    await ready.promise.finally(() => clearTimeout(timer))
  }

  /** SIGKILL: nothing is put in order. */
  async kill(): Promise<void> {
    if (!this.isRunning) return
    const child = this.#child!
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** The exit status once it is over; null when a signal ended it. */
  async exited(): Promise<number | null> {
    if (this.isRunning) await once(this.#child!, 'exit')
    return this.#child?.exitCode ?? null
  }

  /** SIGINT: what lives is ended. */
  async stop(): Promise<void> {
    if (!this.isRunning) return
    const child = this.#child!
    const gone = once(child, 'exit')
    child.kill('SIGINT')
    const timer = setTimeout(() => child.kill('SIGKILL'), ENDED_WITHIN_MS)
    await gone.finally(() => clearTimeout(timer))
  }
}
