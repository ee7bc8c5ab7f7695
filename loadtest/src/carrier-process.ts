import { readFile } from 'node:fs/promises'
import type { TlsIdentity } from '@parley/sip'
import { z } from 'zod'
import { refer, reinvite } from './carrier/number-plan.ts'
import { readLines } from './io/command-lines.ts'
import { carrierConfig, FakeCarrier } from './io/fake-carrier.ts'
import { configPath, runUntilTerminated } from './io/process-lifetime.ts'

/**
 * A carrier as a process: `node loadtest/src/carrier-process.ts --config FILE`.
 *
 * FILE is JSON: the options of `FakeCarrier.open`, and `tls: {cert, key, ca}` as paths of PEM files. When it is ready, it prints one
 * line of JSON with its addresses: `{ready: true, pid, bind, udp, tcp, tls, ledger}`. Rows go to `ledgerFile`, none are kept in memory
 * unless `keepRows` says so. Commands come as lines of JSON on standard input, and each is answered by a line:
 *
 *     {"do": "call", "uri": "sip:token@host:5061;transport=tls", "from": "+49301", "called": "+15551", "count": 100, "perSecond": 10}
 *     {"do": "stats"}
 *
 * On SIGTERM it hangs up all calls and ends: exit code 0, or 1 when rows could not be written; 2 when it cannot start.
 */
const processConfig = carrierConfig.extend({
  keepRows: carrierConfig.shape.keepRows.unwrap().default(0),
  tls: z.strictObject({ cert: z.string(), key: z.string(), ca: z.string() }).optional(),
})

const command = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('call'),
    uri: z.string().max(1024),
    from: z.string().max(256),
    called: z.string().max(128).optional(),
    headers: z
      .array(z.tuple([z.string(), z.string()]))
      .max(32)
      .default([]),
    credentials: z.strictObject({ username: z.string(), password: z.string() }).optional(),
    hangUpAfterMs: z.number().min(0).max(86_400_000).optional(),
    refer: refer.optional(),
    reinvite: reinvite.optional(),
    /** Number of calls, evenly spread; default one. */
    count: z.int().min(1).max(1_000_000).default(1),
    perSecond: z.number().positive().max(10_000).default(10),
  }),
  z.strictObject({ do: z.literal('stats') }),
])

function say(line: unknown): void {
  console.log(JSON.stringify(line))
}

async function identity(paths: z.output<typeof processConfig>['tls']): Promise<{ tls?: TlsIdentity }> {
  if (paths === undefined) return {}
  const [cert, key, ca] = await Promise.all([paths.cert, paths.key, paths.ca].map(path => readFile(path, 'utf8')))
  return { tls: { cert: cert!, key: key!, ca: ca! } }
}

async function placeCalls(
  carrier: FakeCarrier,
  order: Extract<z.output<typeof command>, { do: 'call' }>,
): Promise<void> {
  const { uri, from, called, headers, credentials, count, perSecond } = order
  const { hangUpAfterMs, refer, reinvite } = order
  const startedAt = performance.now()
  let failed = 0
  for (let placed = 0; placed < count; placed++) {
    const wait = startedAt + (placed * 1000) / perSecond - performance.now()
    if (wait > 0) await new Promise(resolve => setTimeout(resolve, wait))
    const dial = { ...(called !== undefined && { called }), ...(credentials && { credentials }) }
    carrier.carrier.call({ uri, from, headers, ...dial, hangUpAfterMs, refer, reinvite }).catch(() => failed++)
  }
  say({ done: 'call', placed: count, failed })
}

async function obey(carrier: FakeCarrier, line: string): Promise<void> {
  try {
    const order = command.parse(JSON.parse(line))
    if (order.do === 'call') return await placeCalls(carrier, order)
    const { liveCalls, droppedInvites } = carrier.carrier
    const { user, system } = process.cpuUsage()
    say({ done: 'stats', live_calls: liveCalls, dropped_invites: droppedInvites, cpu_ms: (user + system) / 1000 })
  } catch (error) {
    say({ error: error instanceof Error ? error.message : String(error) })
  }
}

try {
  const path = configPath(process.argv.slice(2))
  if (path === undefined) throw new Error('usage: node carrier-process.ts --config FILE')
  const { tls, ledgerFile, ...config } = processConfig.parse(JSON.parse(await readFile(path, 'utf8')))
  const carrier = await FakeCarrier.open({
    ...config,
    ...(ledgerFile !== undefined && { ledgerFile }),
    ...(await identity(tls)),
    log: ({ level, event, detail }) => level !== 'debug' && console.error(JSON.stringify({ level, event, detail })),
  })
  runUntilTerminated(() => carrier.close())
  readLines(process.stdin, line => void obey(carrier, line))
  const [udp, tcp, tlsPort] = (['udp', 'tcp', 'tls'] as const).map(transport => carrier.port(transport))
  say({ ready: true, pid: process.pid, bind: config.bind, udp, tcp, tls: tlsPort, ledger: ledgerFile ?? null })
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(2)
}
