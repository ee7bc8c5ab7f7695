import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Scope } from '@parley/contract'

/** What a process reports each second. */
export interface ProcessFigures {
  /** Bytes. */
  readonly rss: number
  /** Since its start. */
  readonly cpu_ms: number
}

interface Running {
  readonly child: ChildProcess
  readonly figures: ProcessFigures[]
}

const SCRIPT = fileURLToPath(new URL('trial-process.ts', import.meta.url))

/** Processes that carry out the trials of one environment. */
export class TrialProcesses {
  readonly #url: string
  readonly #scope: Scope
  readonly #all: Running[] = []

  constructor(ownerUrl: string, scope: Scope) {
    this.#url = ownerUrl
    this.#scope = scope
  }

  start(): void {
    const child = spawn(process.execPath, [SCRIPT, this.#url, JSON.stringify(this.#scope)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const figures: ProcessFigures[] = []
    createInterface({ input: child.stdout! }).on('line', line => figures.push(JSON.parse(line) as ProcessFigures))
    this.#all.push({ child, figures })
  }

  /** Kills a process without a warning and starts another in its place. `index`: any integer; the remainder chooses the process. */
  async replace(index: number): Promise<void> {
    const running = this.#running
    const { child } = running[index % running.length]!
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
    this.start()
  }

  /** Lets the processes end. */
  async close(): Promise<void> {
    await Promise.all(
      this.#running.map(async ({ child }) => {
        const exit = once(child, 'exit')
        child.stdin!.end()
        await exit
      }),
    )
  }

  /** The reports of each process, also of those that were killed. */
  get figures(): readonly (readonly ProcessFigures[])[] {
    return this.#all.map(({ figures }) => figures)
  }

  get #running(): Running[] {
    return this.#all.filter(({ child }) => child.exitCode === null && child.signalCode === null)
  }
}
