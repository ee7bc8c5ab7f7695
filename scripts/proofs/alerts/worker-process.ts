// A worker whose alerts are evaluated often: `node worker-process.ts '<JSON of WorkerConfig>'`. Prints "ready".
import { OutboundHttp } from '@parley/egress'
import { startWorker } from '@parley/jobs'
import { systemRandom, systemTime } from '@parley/kernel'
import { RulesModel } from '@parley/providers'
import { BullConnections, BullEnvironmentQueue } from '@parley/runs'
import { MasterKeySealer, openDatabase, postgresBus } from '@parley/store'
import { MASTER_KEY, type WorkerConfig } from './worker-config.ts'

const { ownerUrl, receiverPort, everyMs, leaseMs } = JSON.parse(process.argv[2]!) as WorkerConfig
const log = (what: string, error: unknown) => process.stderr.write(`${what}: ${error}\n`)
const connections = new BullConnections({
  on: { postgres: ownerUrl },
  wallClock: Date.now,
  onProblem: line => log(line, ''),
})
const noCall = async () => ({ confirmed: true, status: null, detail: '' })
const model = new RulesModel()
await startWorker({
  database: await openDatabase({ ownerUrl }),
  bus: postgresBus({ url: ownerUrl, onProblem: line => log(line, '') }),
  queue: new BullEnvironmentQueue(connections),
  sealer: new MasterKeySealer(MASTER_KEY),
  egress: new OutboundHttp({ allow: [{ host: '127.0.0.1', port: receiverPort }], time: systemTime }),
  pagingUrl: `http://127.0.0.1:${receiverPort}/paging`,
  models: () => model,
  hangUp: { bye: noCall, cancel: noCall },
  wake: () => {},
  expireContents: async () => false,
  joinRecordings: async () => false,
  embedders: () => null,
  reader: { read: async () => ({ type: 'unreadable', error: 'nothing is read here' }) },
  time: systemTime,
  random: systemRandom,
  wallClock: Date.now,
  log,
  alertEveryMs: everyMs,
  alertLeaseMs: leaseMs,
})
process.stdout.write('ready\n')
