import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { attachEmbeddedPostgres } from '@parley/store'
import type { AtTestEnd } from '../../../interop/recipe.ts'
import { temporaryHome } from '../../../interop/serving.ts'

const PROGRAM = join(import.meta.dirname, '../../../packages/cli/bin/parley.mjs')
const READY_WITHIN_MS = 60_000
const ENDED_WITHIN_MS = 20_000

/** `parley serve --role api` as a process, with a home, a database and a port that outlive it. */
export class ServedApi {
  readonly url: string
  readonly #home: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #removeHome: () => Promise<unknown>
  #child: ChildProcess | null = null

  private constructor(port: number, home: string, removeHome: () => Promise<unknown>) {
    this.url = `http://127.0.0.1:${port}`
    this.#home = home
    this.#removeHome = removeHome
    const { DATABASE_URL: _, REDIS_URL: __, ...inherited } = process.env
    this.#environment = { ...inherited, PARLEY_HOME: home, PARLEY_HTTP_PORT: String(port) }
  }

  static async open(): Promise<ServedApi> {
    const removals: Parameters<AtTestEnd>[0][] = []
    const home = temporaryHome(removal => void removals.push(removal))
    const served = new ServedApi(await freePort(), home, async () => {
      for (const remove of removals) await remove({ task: {} })
    })
    try {
      await served.start()
      return served
    } catch (error) {
      await served.close()
      throw error
    }
  }

  /** The admin key of its workspace. */
  get key(): string {
    return (JSON.parse(readFileSync(join(this.#home, 'demo.json'), 'utf8')) as { key: string }).key
  }

  ownerUrl(): Promise<string> {
    return attachEmbeddedPostgres(this.#home)
  }

  /** Resolves when it says that it is ready. Rejects with what it wrote. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM, 'serve', '--role', 'api'], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    let output = ''
    const ready = Promise.withResolvers<void>()
    const failed = () => ready.reject(new Error(`parley serve is not ready:\n${output.slice(-2000)}`))
    const note = (chunk: Buffer) => {
      output = (output + chunk).slice(-10_000)
      if (output.includes('Parley is ready')) ready.resolve()
    }
    child.stdout.on('data', note)
    child.stderr.on('data', note)
    child.once('exit', failed)
    const timer = setTimeout(failed, READY_WITHIN_MS)
    await ready.promise.finally(() => clearTimeout(timer))
  }

  /** SIGKILL: the database lives on. */
  async kill(): Promise<void> {
    const child = this.#child!
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** Of the database server's parent process; null while there is none. */
  databasePid(): number | null {
    try {
      const { data } = JSON.parse(readFileSync(join(this.#home, 'postgres.json'), 'utf8')) as { data: string }
      return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
    } catch {
      return null
    }
  }

  /** Ends the process, and with it the database; nothing stays. */
  async close(): Promise<void> {
    const child = this.#child!
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), ENDED_WITHIN_MS)
      await gone.finally(() => clearTimeout(timer))
    }
    const left = this.databasePid()
    if (left !== null) {
      process.kill(left, 'SIGQUIT')
      for (let tries = 0; this.databasePid() !== null && tries < 100; tries++) await pause(100)
    }
    await this.#removeHome()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return address.port
}
