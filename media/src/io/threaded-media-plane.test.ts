import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { systemRandom } from '@parley/kernel'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { readWav } from '../recorder/wav-reader.ts'
import type { MediaEvent, MediaParameters, MediaSession, SrtpKey } from '../session/media-session.ts'
import { MarkedListener, markedAudio } from '../session/testing/marked-audio.ts'
import { ThreadedMediaPlane } from './threaded-media-plane.ts'

/** Below the system's ephemeral ports, and of this process: tests of another checkout may run beside. */
const BASE = 20_000 + (process.pid % 60) * 200
const ports = (from: number, to: number): { from: number; to: number } => ({ from: BASE + from, to: BASE + to })

function key(): SrtpKey {
  return { suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: systemRandom.bytes(30) }
}

function connect(a: MediaSession, b: MediaSession, secure = true): void {
  const [ab, ba] = [key(), key()]
  const common = { direction: 'sendrecv', codec: 'PCMU', payloadType: 0, ptimeMs: 20, dtmfPayloadType: 101 } as const
  const toA: MediaParameters = { ...common, remote: b.local, srtp: secure ? { send: ab, receive: ba } : null }
  const toB: MediaParameters = { ...common, remote: a.local, srtp: secure ? { send: ba, receive: ab } : null }
  a.apply(toA)
  b.apply(toB)
}

function next<T extends MediaEvent['type']>(
  session: MediaSession,
  type: T,
  fits: (event: Extract<MediaEvent, { type: T }>) => boolean = () => true,
): Promise<Extract<MediaEvent, { type: T }>> {
  const { promise, resolve } = Promise.withResolvers<Extract<MediaEvent, { type: T }>>()
  session.onEvent(event => {
    const candidate = event as Extract<MediaEvent, { type: T }>
    if (event.type === type && fits(candidate)) resolve(candidate)
  })
  return promise
}

const mayBeRealTime = process.platform === 'linux' && process.getuid?.() === 0 && availableParallelism() > 1

/** Threads of this process that the real-time scheduler runs (SCHED_RR, field 41 of proc(5)). */
function realTimeThreads(): number {
  return readdirSync('/proc/self/task').filter(thread => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38] === '2'
  }).length
}

describe('media threads over real sockets', () => {
  let plane: ThreadedMediaPlane
  const directory = mkdtempSync(join(tmpdir(), 'parley-media-'))

  beforeAll(async () => {
    plane = await ThreadedMediaPlane.start({ threads: 1, bindAddress: '127.0.0.1', ports: ports(0, 19) })
  })
  afterAll(async () => {
    await plane.close()
    rmSync(directory, { recursive: true })
  })

  it.each([true, false])('two sessions talk, send digits and are recorded (secure: %s)', async secure => {
    const path = join(directory, `call-${secure}.wav`)
    const a = await plane.open({ label: 'a', recording: { path } })
    const b = await plane.open({ label: 'b' })
    connect(a, b, secure)
    await Promise.all([next(a, 'first-packet'), next(b, 'first-packet')])
    const listener = new MarkedListener()
    const into = new Int16Array(16_000)
    const idle = next(a, 'play-progress', event => event.idle)
    a.play(markedAudio(0, 8000))
    await idle
    const digit = next(b, 'digit')
    const sent = next(a, 'digits-sent')
    a.sendDigits('7', { durationMs: 80 })
    expect((await digit).digit).toBe('7')
    await sent
    for (let n = b.readHeard(into); n > 0; n = b.readHeard(into)) listener.hear(into, n)
    const [statisticsA, statisticsB] = await Promise.all([a.statistics(), b.statistics()])
    const [reportA, reportB] = await Promise.all([a.close(), b.close()])

    // A machine that stalls for more than 40 ms makes a packet late, and then it says so.
    if (statisticsB.concealedSamples === 0) expect(listener).toMatchObject({ heard: 8000, brokenAt: -1 })
    expect(a.played()).toBe(8000)
    expect(statisticsA.packetsSent).toBeGreaterThan(50)
    expect(statisticsB.rejected).toEqual({ unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 })
    expect(reportB.recording).toBeNull()
    expect(reportA.recording).toMatchObject({ path, channels: 2, sampleRateHz: 8000 })
    const wav = readWav(readFileSync(path))
    expect(wav).toMatchObject({ sampleRate: 8000 })
    expect(wav.channels).toHaveLength(2)
    const right = wav.channels[1]!
    expect(Math.abs(right.length / 8 - reportA.recording!.durationMs)).toBeLessThanOrEqual(1)
    const recorded = new MarkedListener()
    recorded.hear(right)
    expect(recorded).toMatchObject({ heard: 8000, brokenAt: -1 })
  })

  it.skipIf(!mayBeRealTime)(
    `a media thread is real-time while it has sessions, and ordinary without: what its idle turns do must not keep others waiting${mayBeRealTime ? '' : ' (only root on a Linux with two processors may)'}`,
    async () => {
      await vi.waitFor(() => expect(realTimeThreads()).toBe(0))
      const session = await plane.open({ label: 'urgent' })
      await vi.waitFor(() => expect(realTimeThreads()).toBe(1))
      await session.close()
      await vi.waitFor(() => expect(realTimeThreads()).toBe(0))
    },
  )

  it('a session describes its media chain', async () => {
    const a = await plane.open({ label: 'call 7' })
    expect(a.describe()).toContain('nothing negotiated yet')
    connect(a, a)
    expect(a.describe()).toContain('call 7: udp 127.0.0.1:')
    expect(a.describe()).toContain('srtp AES_CM_128_HMAC_SHA1_80')
    expect(a.describe()).toContain('PCMU/8000 0 + telephone-event 101')
    await a.close()
    expect(plane.describe()).toContain('1 thread(s), 0 session(s)')
  })

  it('a session is refused while every port is in use or draining', async () => {
    const small = await ThreadedMediaPlane.start({
      threads: 1,
      bindAddress: '127.0.0.1',
      ports: { ...ports(20, 23), drainMs: 60_000 },
    })
    const [a, b] = [await small.open({ label: 'a' }), await small.open({ label: 'b' })]
    expect([a.local.port, b.local.port].sort()).toEqual([BASE + 20, BASE + 22])
    await expect(small.open({ label: 'c' })).rejects.toMatchObject({ code: 'no_rtp_port' })
    await a.close()
    await expect(small.open({ label: 'c' })).rejects.toMatchObject({ code: 'no_rtp_port' })
    await small.close()
    await expect(small.open({ label: 'd' })).rejects.toMatchObject({ code: 'media_closed' })
  })

  it('a drained port is given to the next session', async () => {
    const small = await ThreadedMediaPlane.start({
      threads: 1,
      bindAddress: '127.0.0.1',
      ports: { ...ports(24, 25), drainMs: 50 },
    })
    const a = await small.open({ label: 'a' })
    await a.close()
    const next = await vi.waitFor(() => small.open({ label: 'b' }))
    expect(next.local.port).toBe(a.local.port)
    await small.close()
  })

  it('ports that other processes hold are skipped', async () => {
    const other = await ThreadedMediaPlane.start({
      threads: 1,
      bindAddress: '127.0.0.1',
      ports: ports(30, 37),
    })
    const mine = await ThreadedMediaPlane.start({
      threads: 1,
      bindAddress: '127.0.0.1',
      ports: ports(30, 37),
    })
    const opened = [other, other, mine, mine].map(plane => plane.open({ label: 'call' }))
    const taken = (await Promise.all(opened)).map(({ local }) => local.port)
    expect(taken.sort()).toEqual([BASE + 30, BASE + 32, BASE + 34, BASE + 36])
    await Promise.all([other.close(), mine.close()])
  })

  it('a port that a peer on the same machine has does not count as our own while a session tries to bind it', async () => {
    const pair = ports(170, 171)
    const single = await ThreadedMediaPlane.start({ threads: 1, bindAddress: '127.0.0.1', ports: pair })
    const peer = await ThreadedMediaPlane.start({ threads: 1, bindAddress: '127.0.0.1', ports: pair })
    const phone = await peer.open({ label: 'phone' })
    const opening = single.open({ label: 'engine' }).then(
      () => 'bound',
      () => 'refused',
    )
    let isOpening = true
    void opening.finally(() => (isOpening = false))
    while (isOpening) {
      expect(single.isBound(pair.from)).toBe(false)
      await setImmediate()
    }
    expect(await opening).toBe('refused')
    expect(peer.isBound(pair.from)).toBe(true)
    expect(peer.isBound(pair.to)).toBe(true)
    await phone.close()
    expect(peer.isBound(pair.from)).toBe(false)
    await Promise.all([single.close(), peer.close()])
  })
})

describe('a media thread that dies', () => {
  let plane: ThreadedMediaPlane | null = null
  afterEach(() => plane?.close())

  it('a dead media thread fails its sessions, their recordings are completed, and a new thread takes the next call', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'parley-media-'))
    plane = await ThreadedMediaPlane.start({
      threads: 1,
      bindAddress: '127.0.0.1',
      ports: ports(40, 59),
    })
    const path = join(directory, 'lost.wav')
    const [a, b] = [await plane.open({ label: 'a', recording: { path } }), await plane.open({ label: 'b' })]
    connect(a, b)
    await next(a, 'first-packet')
    const failed = Promise.all([next(a, 'failed'), next(b, 'failed')])
    await plane.killThread(0)
    await failed
    const report = await a.close()
    expect(report.recording).toMatchObject({ path, channels: 2 })
    expect(readWav(readFileSync(path)).channels).toHaveLength(2)
    const [c, d] = [await plane.open({ label: 'c' }), await plane.open({ label: 'd' })]
    connect(c, d)
    await Promise.all([next(c, 'first-packet'), next(d, 'first-packet')])
    rmSync(directory, { recursive: true })
  })
})

/** Sockets that the system has on this test's ports; null where it cannot be asked. */
const boundPorts = existsSync('/proc/net/udp')
  ? () =>
      [...readFileSync('/proc/net/udp', 'utf8').matchAll(/^\s*\d+: [0-9A-F]{8}:([0-9A-F]{4})/gm)]
        .map(match => Number.parseInt(match[1]!, 16))
        .filter(port => port >= BASE + 60 && port <= BASE + 199).length
  : null

describe('a hundred calls', () => {
  it('a hundred opened and closed calls leave no socket, port or session', async () => {
    const plane = await ThreadedMediaPlane.start({
      threads: 1,
      bindAddress: '127.0.0.1',
      ports: { ...ports(60, 199), drainMs: 0 },
    })
    const round = async (): Promise<void> => {
      const sessions = await Promise.all(Array.from({ length: 20 }, (_, i) => plane.open({ label: `${i}` })))
      for (let i = 0; i < sessions.length; i += 2) connect(sessions[i]!, sessions[i + 1]!)
      await Promise.all(sessions.map(session => next(session, 'first-packet')))
      if (boundPorts !== null) expect(boundPorts()).toBe(40)
      await Promise.all(sessions.map(session => session.close()))
    }
    for (let i = 0; i < 5; i++) await round()
    expect(await plane.threadStatistics()).toMatchObject([{ sessions: 0 }])
    expect(plane.describe()).toContain('0 session(s)')
    expect(plane.describe()).toContain('0 leased')
    if (boundPorts !== null) expect(boundPorts()).toBe(0)
    await plane.close()
  })
})
