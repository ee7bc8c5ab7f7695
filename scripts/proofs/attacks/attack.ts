import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'

/** An attack in a process of its own, so that it does not share memory and event loop with the engine. */
export class Attack<Result> {
  /** Rejects if the attacker fails. */
  readonly result: Promise<Result>
  readonly #child: ChildProcess

  /** `script` is a module of this folder that calls `attack` of attacker.ts. */
  constructor(script: string, job: object) {
    this.#child = fork(join(import.meta.dirname, script), {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.result = new Promise((resolve, reject) => {
      this.#child.once('message', message => resolve(message as Result))
      this.#child.once('exit', code => reject(new Error(`${script} ended with ${code} before its result`)))
    })
    this.result.catch(() => {})
    this.#child.send(job)
  }

  /** Ends an attack that lasts until then: its result follows. */
  stop(): void {
    this.#child.send('stop')
  }

  /** Lets the attacker clean up and ends its process. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = new Promise(resolve => this.#child.once('exit', resolve))
    this.#child.disconnect()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000)
    await exited
    clearTimeout(timer)
  }
}
