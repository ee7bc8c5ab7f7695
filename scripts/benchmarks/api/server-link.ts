import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { ServerOptions, ServerReady } from './messages.ts'

const START_MS = 60_000

/** A measured server in a process of its own, which ends with this process. */
export class ServerLink {
  readonly url: string
  readonly #process: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#process = child
    this.url = url
  }

  static async start(script: 'whole-process.ts' | 'bare-process.ts', options: ServerOptions): Promise<ServerLink> {
    const child = fork(join(import.meta.dirname, script), [JSON.stringify(options)])
    const ready = Promise.withResolvers<string>()
    const timer = setTimeout(() => ready.reject(new Error(`${script} did not start`)), START_MS)
    child.once('message', message => ready.resolve((message as ServerReady).url))
    child.once('exit', code => ready.reject(new Error(`${script} ended with ${code}`)))
    try {
      return new ServerLink(child, await ready.promise)
    } finally {
      clearTimeout(timer)
    }
  }

  async end(): Promise<void> {
    const exited = new Promise(resolve => this.#process.once('exit', resolve))
    if (this.#process.exitCode !== null) return
    this.#process.kill('SIGTERM')
    await exited
  }
}
