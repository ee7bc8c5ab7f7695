import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ms } from '@parley/kernel'
import type { EngineMeasures, EngineReply, EngineRequest } from './messages.ts'

const START_MS: Ms = 60_000
const ANSWER_MS: Ms = 10_000
const END_MS: Ms = 10_000

/** The measured engine in a process of its own. It handles one request at a time. */
export class EngineLink {
  readonly #process: ChildProcess
  readonly #exited: Promise<string>

  private constructor() {
    this.#process = fork(join(import.meta.dirname, 'engine-process.ts'), { serialization: 'advanced' })
    this.#exited = new Promise(resolve => {
      this.#process.once('exit', (code, signal) => resolve(`the engine process ended (${code ?? signal})`))
      this.#process.once('error', error => resolve(`the engine process failed: ${error.message}`))
    })
  }

  static async start(
    options: Omit<EngineRequest & { type: 'start' }, 'type'>,
  ): Promise<{ readonly engine: EngineLink } & Omit<Extract<EngineReply, { type: 'started' }>, 'type'>> {
    const engine = new EngineLink()
    try {
      return { ...(await engine.#ask({ type: 'start', ...options }, 'started', START_MS)), engine }
    } catch (error) {
      await engine.end()
      throw error
    }
  }

  get pid(): number {
    return this.#process.pid!
  }

  /** Planted fault: the process stands still for `ms`. */
  async stall(ms: Ms): Promise<void> {
    this.#process.kill('SIGSTOP')
    await sleep(ms)
    this.#process.kill('SIGCONT')
  }

  async measure(): Promise<EngineMeasures> {
    return (await this.#ask({ type: 'measure' }, 'measured', ANSWER_MS)).measures
  }

  /** The process ends when its parent disconnects; if it does not, it is killed. */
  async end(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect()
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), END_MS)
    await this.#exited
    clearTimeout(kill)
  }

  async #ask<T extends EngineReply['type']>(
    request: EngineRequest,
    type: T,
    withinMs: Ms,
  ): Promise<Extract<EngineReply, { type: T }>> {
    const reply = Promise.withResolvers<EngineReply>()
    // The first event of a process that has ended rejects; later ones have no effect.
    reply.promise.catch(() => {})
    const timer = setTimeout(
      () => reply.reject(new Error(`the engine process did not answer "${request.type}" within ${withinMs} ms`)),
      withinMs,
    )
    this.#process.once('message', (message: EngineReply) => reply.resolve(message))
    void this.#exited.then(why => reply.reject(new Error(why)))
    try {
      this.#process.send(request)
      const answer = await reply.promise
      if (answer.type !== type)
        throw new Error(answer.type === 'failed' ? answer.detail : `expected "${type}", received "${answer.type}"`)
      return answer as Extract<EngineReply, { type: T }>
    } finally {
      clearTimeout(timer)
    }
  }
}
