import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type CarrierConfig, type CarrierLedgerEntry, LedgerQueries } from '@parley/loadtest'

const PROGRAM = join(import.meta.dirname, '../../../loadtest/src/carrier-process.ts')
const READY_TIMEOUT_MS = 120_000
const POLL_MS = 10
const CHUNK_BYTES = 1 << 18

/** A call that the carrier makes; see the carrier process. */
type CarrierOrder = Readonly<Record<string, unknown>> & { readonly uri: string; readonly from: string }

/** A fake carrier in a process of its own. Its ledger is read from a file that it appends to. */
export class CarrierProcess {
  readonly #child: ChildProcess
  readonly #ledger: number
  readonly #rows: CarrierLedgerEntry[] = []
  #offset = 0
  #rest = ''

  private constructor(child: ChildProcess, ledger: number) {
    this.#child = child
    this.#ledger = ledger
  }

  /** Starts the carrier. `directory` is for its configuration and its ledger. */
  static async open(
    directory: string,
    config: CarrierConfig & { readonly tls?: Readonly<Record<'cert' | 'key' | 'ca', string>> },
  ): Promise<CarrierProcess> {
    const ledgerFile = join(directory, 'carrier.jsonl')
    const configFile = join(directory, 'carrier.json')
    writeFileSync(ledgerFile, '')
    writeFileSync(configFile, JSON.stringify({ ...config, ledgerFile }))
    const child = spawn(process.execPath, [PROGRAM, '--config', configFile], { stdio: ['pipe', 'pipe', 'pipe'] })
    let output = ''
    const ready = Promise.withResolvers<void>()
    const failed = () => ready.reject(new Error(`the carrier is not ready:\n${output}`))
    const onOutput = (chunk: Buffer) => {
      output = (output + chunk).slice(-10_000)
      if (output.includes('"ready":true')) ready.resolve()
    }
    child.stdout!.on('data', onOutput)
    child.stderr!.on('data', onOutput)
    child.once('error', failed)
    child.once('exit', failed)
    const timer = setTimeout(failed, READY_TIMEOUT_MS)
    await ready.promise.finally(() => clearTimeout(timer))
    return new CarrierProcess(child, openSync(ledgerFile, 'r'))
  }

  call(order: CarrierOrder): void {
    this.#child.stdin!.write(`${JSON.stringify({ do: 'call', ...order })}\n`)
  }

  /** All rows so far. */
  rows(): readonly CarrierLedgerEntry[] {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (;;) {
      const length = readSync(this.#ledger, chunk, 0, CHUNK_BYTES, this.#offset)
      if (length === 0) return this.#rows
      this.#offset += length
      // Only text of the far end can be other than ASCII, so a split character does not matter.
      const lines = (this.#rest + chunk.toString('utf8', 0, length)).split('\n')
      this.#rest = lines.pop()!
      for (const line of lines) this.#rows.push(JSON.parse(line))
    }
  }

  query(): LedgerQueries {
    return new LedgerQueries(this.rows())
  }

  /** The first row, existing or new, that `isWanted` accepts; null: none within `withinMs`. */
  async row(isWanted: (row: CarrierLedgerEntry) => boolean, withinMs: number): Promise<CarrierLedgerEntry | null> {
    const giveUpAt = performance.now() + withinMs
    for (let seen = 0; ; ) {
      const rows = this.rows()
      for (; seen < rows.length; seen++) if (isWanted(rows[seen]!)) return rows[seen]!
      if (performance.now() > giveUpAt) return null
      await pause(POLL_MS)
    }
  }

  async close(): Promise<void> {
    const child = this.#child
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), READY_TIMEOUT_MS)
      await exited.finally(() => clearTimeout(timer))
    }
    closeSync(this.#ledger)
  }
}
