import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { MeasuredSubject } from './measured-subject.ts'
import type { Layer, PlantedFault } from './messages.ts'
import { PeerProgram } from './peer-program.ts'
import { areOnTime, measureRefreshes } from './refreshes.ts'
import { inParallel, isClean, runSipp, sippFigures } from './sipp-load.ts'

const missing = spawnSync('sipp', ['-v']).error !== undefined
const note = missing ? ' (skipped: sipp is not installed: apt-get install sip-tester)' : ''

let subject: MeasuredSubject | null = null
afterEach(async () => {
  await subject?.close()
  subject = null
})

const LOAD = { transport: 'udp', calls: 200, perSecond: 100 } as const

async function figuresOf(
  layer: Layer,
  planted: PlantedFault | null = null,
  load: Parameters<MeasuredSubject['run']>[0] = LOAD,
) {
  subject = await MeasuredSubject.open(layer, planted)
  return subject.run(load)
}

describe.skipIf(missing)(`the SIP benchmark${note}`, () => {
  it.each(['ua', 'engine'] as const)(
    'the calls of SIPp to the layer "%s" succeed and cost processor time',
    async layer => {
      const figures = await figuresOf(layer)
      expect(figures).toMatchObject({ calls: 200, failed: 0 })
      expect(figures.msPerCall).toBeGreaterThan(0.05)
      expect(figures.msPerCall).toBeLessThan(50)
      expect(figures.inviteMs.p99).toBeGreaterThanOrEqual(figures.inviteMs.p50)
    },
  )

  it('5 ms of work at each INVITE show in the processor time and in the delay of the answer', async () => {
    const figures = await figuresOf('ua', { kind: 'busy', ms: 5 })
    expect(figures.msPerCall).toBeGreaterThan(5)
    // SIPp reads its clock in whole milliseconds and begins to count after its datagram has left.
    expect(figures.inviteMs.p50).toBeGreaterThanOrEqual(4)
  })

  it('a subject that ignores one INVITE in twenty is not clean', async () => {
    const figures = await figuresOf('ua', { kind: 'deaf', every: 20 })
    expect(figures.retransmissions).toBeGreaterThan(5)
    expect(isClean(figures, LOAD)).toBe(false)
  })
})

describe.skipIf(missing)(`another SIP server beside ours${note}`, () => {
  it('another SIP server is started, called by the same SIPp and measured with the processor time of its processes, and it ends', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-other-server-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'other-server')
    const program = `"${process.execPath}" "${join(import.meta.dirname, 'other-server.fixture.ts')}" 5`
    // The processor time of a process below the one that was started counts as well.
    await writeFile(path, `#!/bin/sh\n${program} "$1" & wait\n`, { mode: 0o755 })
    const server = await PeerProgram.start(path)
    try {
      const before = server.cpuMs()
      const figures = await runSipp({ ...LOAD, port: server.port, core: 1 })
      expect(figures).toMatchObject({ calls: LOAD.calls, failed: 0 })
      expect((server.cpuMs() - before) / LOAD.calls).toBeGreaterThan(5)
    } finally {
      await server.stop()
    }
  })

  it('a program that ends at once is reported with its exit code', async () => {
    await expect(PeerProgram.start('/bin/false')).rejects.toThrow('/bin/false ended with code 1')
  })
})

describe('the caller over TLS', () => {
  it('its calls succeed', async () => {
    const figures = await figuresOf('ua', null, { transport: 'tls', calls: 100, perSecond: 100 })
    expect(figures).toMatchObject({ calls: 100, failed: 0 })
    expect(figures.inviteMs.p50).toBeGreaterThan(0)
  })
})

describe('refreshes of session timers', () => {
  it('200 dialogs are refreshed on time for two virtual hours', () => {
    const figures = measureRefreshes(200, 2)
    expect(areOnTime(figures), JSON.stringify(figures)).toBe(true)
    expect(figures.refreshes).toBeGreaterThanOrEqual(200 * 7)
  })

  it('a network that is away for half an hour shows', () => {
    expect(areOnTime(measureRefreshes(50, 2, 1_800_000))).toBe(false)
  })
})

describe('the files of SIPp', () => {
  it('figures are those of the last line, and response times are in milliseconds', () => {
    const stat = [
      'StartTime;CallRate(P);CallRate(C);SuccessfulCall(C);FailedCall(C);Retransmissions(C);',
      'x;1;399.2;400;0;0;',
      'x;1;398.7;800;2;3;',
    ].join('\n')
    const rtt = ['Date_ms;response_time_ms;rtd_no', '1.5;0.5;1', '2.5;1.5;1', '3.5;10;1'].join('\n')
    expect(sippFigures(stat, rtt)).toEqual({
      calls: 800,
      failed: 2,
      retransmissions: 3,
      perSecond: 398.7,
      inviteMs: { p50: 1.5, p95: 10, p99: 10 },
    })
  })
})

describe('several processes', () => {
  it('several processes share the calls, and the slowest one counts', async () => {
    const shares: object[] = []
    const figures = await inParallel(['a', 'b'], 5, 101, async (subject, share) => {
      shares.push(share)
      const slow = subject === 'b' ? 10 : 1
      return { ...share, failed: 1, retransmissions: 0, inviteMs: { p50: slow, p95: 2, p99: 3 }, msPerCall: slow }
    })
    expect(shares).toEqual([
      { calls: 51, perSecond: 3 },
      { calls: 50, perSecond: 2 },
    ])
    expect(figures).toMatchObject({
      calls: 101,
      perSecond: 5,
      failed: 2,
      inviteMs: { p50: 10, p95: 2 },
      msPerCall: 5.5,
    })
  })
})
