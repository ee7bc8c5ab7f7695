import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { readWebhookLedger } from './io/webhook-receiver.ts'

const PROCESS = new URL('webhook-receiver-process.ts', import.meta.url).pathname

it('a webhook receiver process prints its URL, answers by script, writes its ledger and ends on SIGTERM', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'webhooks-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const [config, ledgerFile] = [join(directory, 'config.json'), join(directory, 'ledger.jsonl')]
  await writeFile(
    config,
    JSON.stringify({ secrets: ['s'], ledgerFile, answers: { '*': [{ answer: 503 }, { answer: 200 }] } }),
  )
  const child = spawn(process.execPath, [PROCESS, '--config', config], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { ready, url } = JSON.parse(line)
  expect(ready).toBe(true)
  const body = JSON.stringify({ event: 'run.started', event_id: 'e', run: { run_id: 'r' } })
  for (const status of [503, 200]) expect((await fetch(url, { method: 'POST', body })).status).toBe(status)
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
  const got = await readWebhookLedger(ledgerFile)
  expect(got.byRun().get('r')).toHaveLength(2)
  expect(got.duplicates().size).toBe(0)
})
