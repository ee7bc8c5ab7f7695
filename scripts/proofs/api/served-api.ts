import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { attachEmbeddedPostgres } from '@parley/store'
import type { AtTestEnd } from '../../../interop/recipe.ts'
import { temporaryHome } from '../../../interop/serving.ts'
import { RolesProcess } from '../calls/roles-process.ts'

/** `parley serve --role api` as a process, with a home, a database and a port that outlive it. */
export class ServedApi {
  readonly url: string
  readonly #home: string
  readonly #process: RolesProcess
  readonly #removeHome: () => Promise<unknown>

  private constructor(port: number, home: string, removeHome: () => Promise<unknown>) {
    this.url = `http://127.0.0.1:${port}`
    this.#home = home
    this.#removeHome = removeHome
    this.#process = new RolesProcess('api', { PARLEY_HOME: home, PARLEY_HTTP_PORT: String(port) })
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

  /** Resolves when the process prints that it is ready. Rejects with its output. */
  start(): Promise<void> {
    return this.#process.start()
  }

  /** SIGKILL: the database lives on. */
  kill(): Promise<void> {
    return this.#process.kill()
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
    await this.#process.stop()
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
