import { loadNativeAddon } from '@parley/media/testing'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { type ForwardingFigures, measureForwarding } from './forwarding.ts'
import { measurePoint, type PointFigures } from './point.ts'

const CALLS = [1, 50, 200, 500]
const KINDS = ['native', 'portable'] as const
const SECONDS = 4
/**
 * Time for V8 to compile the hot code, most of which runs some times a second and call: its compiler threads take processor time, and hold
 * locks that a media thread waits for.
 */
const WARM_UP_MS = 12_000
/** The peer's is compiled. */
const PEER_WARM_UP_MS = 4000
/** All calls begin at once, which an engine admits one after the other. */
const WARM_UP_PER_CALL_MS = 4
/** The summary is about this number of calls over native packet I/O, if it is measured. */
const SUMMARY_CALLS = 200
const PACKET_US = 20_000

/**
 * Lateness of sent packets by the receiver's kernel timestamps and CPU per call-tick of G.711 calls with SRTP both ways on one
 * media thread: `npm run bench -- media [--calls 1,50,200,500] [--layers native,portable] [--seconds 4] [--everything yes|no] [--pinned yes|no]`.
 * Everything: voice activity and recording of both channels as well. `--peer rtpengine` measures beside it what rtpengine takes in user
 * space to forward as many packets a second from RTP to SRTP. `--pinned yes`: the measured process has one core, its callers the other.
 */
export const benchmark: Benchmark = {
  name: 'media',
  options: ['calls', 'layers', 'seconds', 'everything', 'peer', 'pinned'],
  run,
}

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const addon = loadNativeAddon()
  if (typeof addon === 'string') throw new Error(`the receiver of this benchmark needs the native add-on: ${addon}`)
  const calls = option('calls')?.split(',').map(Number) ?? CALLS
  if (!calls.every(count => Number.isInteger(count) && count >= 1 && count <= 2000))
    throw new Error('--calls takes numbers from 1 to 2000')
  const layers = option('layers')?.split(',') ?? KINDS
  const seconds = Number(option('seconds') ?? SECONDS)
  if (!(seconds >= 0.5 && seconds <= 600)) throw new Error('--seconds takes 0.5 to 600')
  const peer = option('peer') ?? null
  if (peer !== null && peer !== 'rtpengine') throw new Error('--peer takes rtpengine')
  const everything = (option('everything') ?? 'yes') === 'yes'
  const pinned = option('pinned') === 'yes'
  const points: PointFigures[] = []
  for (const packetIo of KINDS.filter(kind => layers.includes(kind))) {
    for (const count of calls) {
      progress(`${count} calls, ${packetIo}`)
      const point = await measurePoint({
        calls: count,
        packetIo,
        warmUpMs: WARM_UP_MS + count * WARM_UP_PER_CALL_MS,
        measureMs: seconds * 1000,
        everything,
        pinned,
        stalls: null,
      })
      points.push(point)
      line({ bench: 'media', ...point })
    }
  }
  const forwarding = peer === null ? null : await compare(points, seconds * 1000)
  if (forwarding !== null) line({ bench: 'media', ...forwarding })
  return summary(points, forwarding)
}

/** The native point that the summary is about: of 200 calls, else of the most. */
function summaryPoint(points: readonly PointFigures[]): PointFigures | undefined {
  const native = points.filter(point => point.packet_io === 'native')
  return native.find(point => point.calls === SUMMARY_CALLS) ?? native.toSorted((a, b) => b.calls - a.calls)[0]
}

/** The peer at the packets a second of the summary's point. */
async function compare(points: readonly PointFigures[], measureMs: number): Promise<ForwardingFigures> {
  const calls = summaryPoint(points)?.calls ?? SUMMARY_CALLS
  return await measureForwarding({ calls, warmUpMs: PEER_WARM_UP_MS, measureMs })
}

function summary(points: readonly PointFigures[], forwarding: ForwardingFigures | null): object {
  const native = points.filter(point => point.packet_io === 'native')
  const at = summaryPoint(points)
  const ours = at?.process_us_per_tick
  return {
    bench: 'media',
    us_per_tick: at?.us_per_tick ?? null,
    lateness_p999_ms: at?.lateness_ms.p999 ?? null,
    calls_per_core: at === undefined ? null : Math.floor(PACKET_US / at.us_per_tick),
    bytes_per_call: bytesPerCall(native),
    ratio: forwarding === null || ours === undefined ? null : Math.round((100 * ours) / forwarding.us_per_packet) / 100,
    peer_us_per_packet: forwarding?.us_per_packet ?? null,
  }
}

/** From the difference of the two largest points, so that memory per process cancels out. */
function bytesPerCall(points: readonly PointFigures[]): number | null {
  const [large, small] = points.toSorted((a, b) => b.calls - a.calls)
  if (large === undefined || small === undefined || large.calls === small.calls) return null
  return Math.round((large.grown_bytes - small.grown_bytes) / (large.calls - small.calls))
}
