// A process that carries out trials until its standard input ends. Arguments: the database, the scope as JSON. It prints a JSON line
// each second: its memory and its processor time.
import type { Scope } from '@parley/contract'
import { audioTrialRunner } from '@parley/evaluation'
import { type Ms, systemTime } from '@parley/kernel'
import { RulesModel, TonesVoice } from '@parley/providers'
import { MasterKeySealer, openDatabase } from '@parley/store'
import { JobCounters } from '../../../packages/jobs/src/metrics.ts'
import { PlanCache } from '../../../packages/jobs/src/plan-cache.ts'
import { MemoryEnvironmentQueue } from '../../../packages/jobs/src/testing/memory-environment-queue.ts'
import { TrialJobs } from '../../../packages/jobs/src/trials/trial-jobs.ts'
import type { ProcessFigures } from './trial-processes.ts'

/** Short, so that the trials of a killed process are soon due again. */
const LEASE_MS: Ms = 5000
const LOOK_EVERY_MS: Ms = 250
const REPORT_EVERY_MS: Ms = 1000

const [ownerUrl, scope] = process.argv.slice(2) as [string, string]
const database = await openDatabase({ ownerUrl })
const voice = new TonesVoice()
const jobs = new TrialJobs({
  database,
  queue: new MemoryEnvironmentQueue(),
  plans: new PlanCache(database),
  agents: async () => ({
    models: () => new RulesModel({ time: systemTime }),
    actions: () => ({ run: () => Promise.reject(new Error('a trial runs no action')) }),
    transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
  }),
  audio: audioTrialRunner(voice),
  sealer: new MasterKeySealer(new Map([[1, Buffer.alloc(32, 7)]])),
  bus: { publish: () => {} },
  time: systemTime,
  wallClock: Date.now,
  log: (what, error) => process.stderr.write(`${what}: ${error}\n`),
  counters: new JobCounters(),
  leaseMs: LEASE_MS,
})

let isOver = false
process.stdin.on('end', () => {
  isOver = true
})
process.stdin.resume()
const reports = setInterval(() => {
  const { user, system } = process.cpuUsage()
  const figures: ProcessFigures = { rss: process.memoryUsage.rss(), cpu_ms: Math.round((user + system) / 1000) }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}, REPORT_EVERY_MS)
while (!isOver) {
  await jobs.round(JSON.parse(scope) as Scope)
  await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
}
clearInterval(reports)
await voice.close()
await database.close()
