import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCore } from '../child-link.ts'
import { quantile } from '../quantile.ts'
import { SERVICE } from './service.ts'

interface SippLoad {
  readonly port: number
  readonly transport: 'udp' | 'tcp'
  readonly calls: number
  readonly perSecond: number
  /** The core on which SIPp runs. */
  readonly core: number
}

interface InviteTimes {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface LoadFigures {
  readonly calls: number
  readonly failed: number
  /** Requests that were sent again because no answer came in 500 ms. */
  readonly retransmissions: number
  /** Calls a second that were begun. */
  readonly perSecond: number
  /** INVITE to 200. */
  readonly inviteMs: InviteTimes
}

/** A call that is not answered within this time has failed. */
const RECEIVE_TIMEOUT_MS = 10_000

/** Makes calls from one SIPp: INVITE, 200, ACK, and BYE at once. Throws if SIPp cannot start. */
export async function runSipp({ port, transport, calls, perSecond, core }: SippLoad): Promise<LoadFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-sipp.'))
  try {
    const seconds = Math.ceil(calls / perSecond) + RECEIVE_TIMEOUT_MS / 1000 + 20
    const [program, ...before] = onCore(core, 'sipp')
    const options = {
      sf: join(import.meta.dirname, 'uac.xml'),
      t: transport === 'udp' ? 'u1' : 't1',
      i: '127.0.0.1',
      p: await freePort(),
      s: SERVICE,
      m: calls,
      r: perSecond,
      l: 100_000,
      stf: 'stat.csv',
      fd: 1,
      rtt_freq: 200,
      recv_timeout: RECEIVE_TIMEOUT_MS,
      timeout: `${seconds}s`,
    }
    const switches = ['-trace_stat', '-trace_rtt', '-nostdin']
    const values = Object.entries(options).flatMap(([name, value]) => [`-${name}`, String(value)])
    const child = spawn(program!, [...before, `127.0.0.1:${port}`, ...switches, ...values], {
      cwd: directory,
      stdio: 'ignore',
    })
    await once(child, 'exit')
    const stat = globSync('stat.csv', { cwd: directory })
    const rtt = globSync('*_rtt.csv', { cwd: directory })
    if (stat.length === 0) throw new Error(`sipp ended with ${child.exitCode} and wrote no statistics`)
    return sippFigures(
      readFileSync(join(directory, 'stat.csv'), 'utf8'),
      rtt.map(file => readFileSync(join(directory, file), 'utf8')).join('\n'),
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Figures from SIPp's files: the last line of its statistics, and the response times in ms. */
export function sippFigures(stat: string, rtt: string): LoadFigures {
  const [header, ...rows] = stat.trim().split('\n')
  const names = header?.split(';') ?? []
  const last = rows.at(-1)?.split(';') ?? []
  const value = (name: string) => {
    const text = last[names.indexOf(name)]
    if (text === undefined) throw new Error(`sipp's statistics have no column ${name}`)
    return text
  }
  const times = rtt
    .split('\n')
    .map(row => Number(row.split(';')[1]))
    .filter(ms => Number.isFinite(ms))
  return {
    calls: Number(value('SuccessfulCall(C)')),
    failed: Number(value('FailedCall(C)')),
    retransmissions: Number(value('Retransmissions(C)')),
    perSecond: Number(value('CallRate(C)')),
    inviteMs: inviteTimes(times),
  }
}

/** Shares calls among subjects; the figures of all together, with the longest times. */
export async function inParallel<Subject>(
  subjects: readonly Subject[],
  perSecond: number,
  calls: number,
  run: (subject: Subject, share: { calls: number; perSecond: number }) => Promise<LoadFigures & { msPerCall: number }>,
): Promise<LoadFigures & { msPerCall: number }> {
  const count = subjects.length
  const parts = await Promise.all(
    subjects.map((subject, i) =>
      run(subject, { calls: shareOf(calls, count, i), perSecond: shareOf(perSecond, count, i) }),
    ),
  )
  const sum = (value: (part: (typeof parts)[number]) => number) => parts.reduce((total, part) => total + value(part), 0)
  const longest = (name: keyof InviteTimes) => Math.max(...parts.map(({ inviteMs }) => inviteMs[name]))
  return {
    calls: sum(part => part.calls),
    failed: sum(part => part.failed),
    retransmissions: sum(part => part.retransmissions),
    perSecond: sum(part => part.perSecond),
    inviteMs: { p50: longest('p50'), p95: longest('p95'), p99: longest('p99') },
    msPerCall: Math.round((sum(part => part.msPerCall) / count) * 1000) / 1000,
  }
}

/** Whole shares that add up to `total`. */
function shareOf(total: number, count: number, index: number): number {
  return Math.floor(total / count) + (index < total % count ? 1 : 0)
}

export function inviteTimes(ms: readonly number[]): InviteTimes {
  const at = (share: number) => Math.round(quantile(ms, share) * 1000) / 1000
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** Whether every call succeeded at the rate asked for, and no request had to be sent twice. */
export function isClean(figures: LoadFigures, asked: { readonly calls: number; readonly perSecond: number }): boolean {
  const { calls, failed, retransmissions, perSecond } = figures
  return calls === asked.calls && failed === 0 && retransmissions === 0 && perSecond >= 0.95 * asked.perSecond
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address()
  socket.close()
  return port
}
