import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../../../loadtest/src/webhook-receiver-process.ts', import.meta.url))

/** A row of the receiver's ledger, as far as tests here look at it. */
interface HookRow {
  /** Whether an integrator would believe it. */
  readonly signature: string
  readonly event: string
  readonly body: string
}

/** The load tests' receiver of webhooks, in a process of its own: it checks signatures by the public description alone. */
export interface HookReceiver {
  readonly url: string
  rows(): Promise<HookRow[]>
  close(): Promise<void>
}

export async function startHookReceiver(secrets: readonly string[]): Promise<HookReceiver> {
  const home = await mkdtemp(join(tmpdir(), 'parley-hooks-'))
  const [config, ledger] = [join(home, 'config.json'), join(home, 'ledger.jsonl')]
  await writeFile(ledger, '')
  await writeFile(config, JSON.stringify({ secrets, ledgerFile: ledger }))
  const child = spawn(process.execPath, [PROGRAM, '--config', config], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(() => ['']),
  ])) as [string]
  const { url } = JSON.parse(line) as { url: string }
  return {
    url,
    async rows() {
      const lines = (await readFile(ledger, 'utf8')).split('\n').filter(text => text !== '')
      return lines.map(text => JSON.parse(text) as HookRow)
    },
    async close() {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
      await rm(home, { recursive: true, force: true })
    },
  }
}
