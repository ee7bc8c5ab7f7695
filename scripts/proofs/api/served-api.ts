import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { attachEmbeddedPostgres } from '@parley/store'
import type { AtTestEnd } from '../../../interop/clean-up.ts'
import { preparedHome } from '../../../interop/serving.ts'
import { RolesProcess } from '../calls/roles-process.ts'

/** `parley serve --role api` as a process. Its home, database and port remain when it is killed. */
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
    const home = await preparedHome(removal => void removals.push(removal))
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

  /** Sends SIGKILL; the database server keeps running. */
  kill(): Promise<void> {
    return this.#process.kill()
  }

  /** Process id of the database server; null: it is not running. */
  databasePid(): number | null {
    try {
      const { data } = JSON.parse(readFileSync(join(this.#home, 'postgres.json'), 'utf8')) as { data: string }
      return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
    } catch {
      return null
    }
  }

  /** Stops the process and the database server, and removes the home. */
  async close(): Promise<void> {
    await this.#process.stop()
    const pid = this.databasePid()
    if (pid !== null) {
      process.kill(pid, 'SIGQUIT')
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
  if (address === null || typeof address === 'string') throw new Error('the TCP server has no port')
  return address.port
}
