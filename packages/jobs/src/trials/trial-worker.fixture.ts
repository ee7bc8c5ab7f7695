// A process that takes trials and never finishes one: the test kills it. Arguments: the database, the scope as JSON.
import type { Scope } from '@parley/contract'
import { systemTime } from '@parley/kernel'
import { MasterKeySealer, openDatabase } from '@parley/store'
import { JobCounters } from '../metrics.ts'
import { PlanCache } from '../plan-cache.ts'
import { MemoryEnvironmentQueue } from '../testing/memory-environment-queue.ts'
import { TrialJobs } from './trial-jobs.ts'

const [ownerUrl, scope] = process.argv.slice(2) as [string, string]
const database = await openDatabase({ ownerUrl })
const jobs = new TrialJobs({
  database,
  queue: new MemoryEnvironmentQueue(),
  plans: new PlanCache(database),
  agents: async () => {
    process.stdout.write('taken\n')
    return new Promise<never>(() => {})
  },
  sealer: new MasterKeySealer(new Map([[1, Buffer.alloc(32, 7)]])),
  bus: { publish: () => {} },
  time: systemTime,
  wallClock: Date.now,
  log: (what, error) => process.stderr.write(`${what}: ${error}\n`),
  counters: new JobCounters(),
  leaseMs: 3000,
})
await jobs.round(JSON.parse(scope) as Scope)
