import { readFile } from 'node:fs/promises'
import { configPath, runUntilTerminated } from './io/process-lifetime.ts'
import { WebhookReceiver, webhookReceiverConfig } from './io/webhook-receiver.ts'

/**
 * A webhook receiver as a process: `node loadtest/src/webhook-receiver-process.ts --config FILE`.
 *
 * FILE is JSON: the options of `WebhookReceiver.open`. When it is ready it prints one line of JSON:
 * `{ready: true, pid, url, ledger}`. Rows go to `ledgerFile`, none are kept in memory unless `keepRows` says so. It ends on
 * SIGTERM; exit code 2 when it cannot start.
 */
const processConfig = webhookReceiverConfig.extend({
  keepRows: webhookReceiverConfig.shape.keepRows.unwrap().default(0),
})

try {
  const path = configPath(process.argv.slice(2))
  if (path === undefined) throw new Error('usage: node webhook-receiver-process.ts --config FILE')
  const config = processConfig.parse(JSON.parse(await readFile(path, 'utf8')))
  const receiver = await WebhookReceiver.open({ ...config, ledgerFile: config.ledgerFile })
  runUntilTerminated(() => receiver.close())
  console.log(JSON.stringify({ ready: true, pid: process.pid, url: receiver.url, ledger: config.ledgerFile ?? null }))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(2)
}
