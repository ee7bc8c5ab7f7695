// The browsers of all web calls, in one process: WebRTC peers that send prepared Opus and note when packets arrive.
import { setTimeout as pause } from 'node:timers/promises'
import { RtpHeader, readRtpHeader } from '@parley/media/testing'
import { BrowserStandIn } from '@parley/webrtc/testing'
import { CallLateness, quantiles } from '../../benchmarks/media/lateness.ts'
import type { BrowserMeasures, BrowsersReply, BrowsersRequest } from './messages.ts'

const CLOCK_RATE = 48_000
const PACKETS_PER_S = 50

/** Longest wait until every call receives packets. */
const SETTLED_MS = 60_000

interface Call {
  readonly browser: BrowserStandIn
  hasReceived: boolean
  lateness: CallLateness | null
}

const calls: Call[] = []
const header = new RtpHeader()
let prepared: readonly Uint8Array[] = []

async function open(url: string, token: string): Promise<number> {
  const call: Call = {
    browser: new BrowserStandIn({
      prefersDtx: true,
      prepared,
      onPacket: packet => {
        const arrivedAt = performance.now()
        call.hasReceived = true
        if (call.lateness !== null && readRtpHeader(packet, packet.length, header))
          call.lateness.add(header.timestamp, arrivedAt, header.sequence)
      },
    }),
    hasReceived: false,
    lateness: null,
  }
  calls.push(call)
  return call.browser.call(url, token)
}

/** Measures from the moment at which every call receives packets. */
async function measure(seconds: number): Promise<BrowserMeasures> {
  const most = (seconds + 10) * PACKETS_PER_S
  const giveUpAt = performance.now() + SETTLED_MS
  while (calls.some(({ hasReceived }) => !hasReceived) && performance.now() < giveUpAt) await pause(100)
  const before = process.cpuUsage()
  const since = performance.now()
  process.send!({ type: 'measuring' } satisfies BrowsersReply)
  for (const call of calls) call.lateness = new CallLateness(most, CLOCK_RATE)
  await pause(seconds * 1000)
  const { user, system } = process.cpuUsage(before)
  const measured = calls.map(({ lateness }) => lateness!)
  for (const call of calls) call.lateness = null
  const all: number[] = []
  const missing = measured.map(lateness => lateness.collect(all))
  const turnsOf = ({ browser }: Call) =>
    browser.messages.filter(({ type, role }) => type === 'utterance' && role === 'user').length
  return {
    seconds: (performance.now() - since) / 1000,
    lateness_ms: quantiles(all),
    missing: missing.reduce((sum, count) => sum + count, 0),
    most_missing: Math.max(...missing),
    fewest_packets: Math.min(...measured.map(({ count }) => count)),
    connected: calls.filter(({ browser }) => browser.state === 'connected').length,
    fewest_turns: Math.min(...calls.map(turnsOf)),
    cpu_ms: (user + system) / 1000,
  }
}

async function answer(request: BrowsersRequest): Promise<BrowsersReply> {
  if (request.type === 'prepare') {
    prepared = request.packets
    return { type: 'prepared' }
  }
  if (request.type === 'call') return { type: 'called', status: await open(request.url, request.token) }
  return { type: 'measured', measured: await measure(request.seconds) }
}

process.on('message', (request: BrowsersRequest) => {
  void answer(request).then(reply => process.send!(reply))
})
process.on('disconnect', () => process.exit(0))
