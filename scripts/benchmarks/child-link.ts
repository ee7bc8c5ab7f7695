import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename } from 'node:path'

const TASKSET = '/usr/bin/taskset'

/** The command line that runs a program on one core; the program alone where the machine cannot do that. */
export function onCore(core: number, program: string): string[] {
  return existsSync(TASKSET) && core < availableParallelism() ? [TASKSET, '-c', String(core), program] : [program]
}

/** A process of the benchmark, with one request at a time. */
export class ChildLink<Request extends object, Reply extends { readonly type: string }> {
  readonly #process: ChildProcess
  readonly #exited: Promise<never>
  #ended = false

  /** `core`: the only core that it may use; default: any. `nodeOptions`: of its Node; default: none. */
  constructor(file: string, options: { readonly core?: number; readonly nodeOptions?: readonly string[] } = {}) {
    const { core, nodeOptions = [] } = options
    const [program, ...args] = core === undefined ? [process.execPath] : onCore(core, process.execPath)
    const execArgv = [...args, ...nodeOptions]
    this.#process = fork(file, { serialization: 'advanced', execPath: program!, execArgv })
    this.#exited = new Promise((_, reject) => {
      this.#process.once('exit', code => {
        this.#ended = true
        reject(new Error(`${basename(file)} ended with code ${code}`))
      })
    })
    this.#exited.catch(() => {})
  }

  ask<T extends Reply['type']>(request: Request, type: T): Promise<Extract<Reply, { type: T }>> {
    const reply = this.next(type)
    this.#process.send(request)
    return reply
  }

  next<T extends Reply['type']>(type: T): Promise<Extract<Reply, { type: T }>> {
    const reply = new Promise<Extract<Reply, { type: T }>>(resolve => {
      const listen = (message: unknown) => {
        if ((message as Reply).type !== type) return
        this.#process.off('message', listen)
        resolve(message as Extract<Reply, { type: T }>)
      }
      this.#process.on('message', listen)
    })
    return Promise.race([reply, this.#exited])
  }

  async end(): Promise<void> {
    if (this.#ended) return
    this.#process.disconnect()
    await this.#exited.catch(() => {})
  }
}
