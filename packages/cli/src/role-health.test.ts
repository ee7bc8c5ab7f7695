import type { CallRecordEnd } from '@parley/engine'
import { expect, it, onTestFinished } from 'vitest'
import { serveRoleHealth } from './role-health.ts'
import { RoleMetrics } from './role-metrics.ts'

async function serve({ isDatabaseUp = true, isDraining = false, metrics = new RoleMetrics() } = {}) {
  const health = await serveRoleHealth({
    bind: '127.0.0.1',
    port: 0,
    registry: metrics.registry,
    isDraining: () => isDraining,
    database: { ping: () => (isDatabaseUp ? Promise.resolve() : Promise.reject(new Error('the database is down'))) },
  })
  onTestFinished(() => health.close())
  return (path: string) => fetch(`${health.url}${path}`)
}

const ENDED: CallRecordEnd = {
  direction: 'outbound',
  state: 'completed',
  outcome: 'caller_hung_up',
  connectedMs: 2000,
  sipStatus: 200,
  reachedTrunk: true,
  postDialDelayMs: 700,
  report: null,
}

it('a process without the API serves metrics of its calls at /metrics', async () => {
  const metrics = new RoleMetrics()
  let live = 3
  metrics.watchEngine(() => ({
    live,
    isDraining: false,
    mediaLatenessMs: 4,
    audioReadLatenessMs: 250,
    certificateEndsAt: null,
    refused: 3,
    evicted: 2,
    datagramsDropped: 48_000,
  }))
  metrics.callEnded(ENDED)
  metrics.callEnded({
    ...ENDED,
    direction: 'inbound',
    state: 'rejected',
    outcome: null,
    connectedMs: null,
    sipStatus: null,
  })
  const get = await serve({ metrics })
  const response = await get('/metrics')
  expect(response.headers.get('content-type')).toContain('text/plain')
  const lines = (await response.text()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'parley_calls_live 3',
      'parley_engine_draining 0',
      'parley_media_lateness_seconds 0.004',
      'parley_audio_read_lateness_seconds 0.25',
      'parley_sip_connections_refused_total 3',
      'parley_sip_connections_evicted_total 2',
      'parley_sip_datagrams_dropped_total 48000',
      'parley_calls_ended_total{state="completed",outcome="caller_hung_up"} 1',
      'parley_calls_ended_total{state="rejected",outcome="none"} 1',
      'parley_call_connected_seconds_sum 2',
      'parley_call_connected_seconds_count 1',
    ]),
  )
  live = 4
  expect(await (await get('/metrics')).text()).toContain('parley_calls_live 4')
})

it('the metrics count the media conflicts and the refused media sources of ended calls', async () => {
  const metrics = new RoleMetrics()
  const statistics = { mediaConflicts: 2, sourcesRefused: 3 }
  const report = { end: { media: { statistics } } } as CallRecordEnd['report']
  for (const end of [ENDED, { ...ENDED, report }, { ...ENDED, report }]) metrics.callEnded(end)
  const get = await serve({ metrics })
  const lines = (await (await get('/metrics')).text()).split('\n')
  expect(lines).toContain('parley_media_conflicts_total 4')
  expect(lines).toContain('parley_media_sources_refused_total 6')
})

it('the metrics of trunks are the calls that reached one, their failures by status and what answered OPTIONS', async () => {
  const metrics = new RoleMetrics()
  metrics.watchTrunks(() => ({
    pings: { trunks: { reachable: 3, partly_reachable: 1, unreachable: 0 }, answered: 40, unanswered: 2 },
    registrations: { registering: 0, registered: 2, failed: 1, unregistered: 0 },
  }))
  metrics.callEnded(ENDED)
  const failed = { ...ENDED, state: 'failed', outcome: 'error', connectedMs: null, postDialDelayMs: null }
  for (const sipStatus of [503, 503, 486, 499, 498, null]) metrics.callEnded({ ...failed, sipStatus })
  metrics.callEnded({ ...failed, sipStatus: null, reachedTrunk: false })
  const get = await serve({ metrics })
  const lines = (await (await get('/metrics')).text()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'parley_trunk_calls_total{direction="outbound",result="answered"} 1',
      'parley_trunk_calls_total{direction="outbound",result="not_answered"} 6',
      'parley_trunk_call_failures_total{direction="outbound",status="503"} 2',
      'parley_trunk_call_failures_total{direction="outbound",status="486"} 1',
      'parley_trunk_call_failures_total{direction="outbound",status="4xx"} 2',
      'parley_trunk_call_failures_total{direction="outbound",status="none"} 1',
      'parley_trunk_post_dial_delay_seconds_sum 0.7',
      'parley_trunk_post_dial_delay_seconds_count 1',
      'parley_trunks_pinged{state="partly_reachable"} 1',
      'parley_trunk_pings_total{result="unanswered"} 2',
      'parley_trunk_registrations{state="failed"} 1',
    ]),
  )
})

it('the metrics have the latency of turns by part, and silences by what the caller waited for', async () => {
  const metrics = new RoleMetrics()
  const place = { seq: 1, at: '2026-01-02T03:04:05.678Z', offset_ms: 10 }
  const latency = { e2e: 900, endpointing: 300, stt: 50, llm: 400, tts: null, engine: 50 }
  metrics.callEvent({ type: 'timeline', item: { ...place, kind: 'turn', index: 1, latency } })
  metrics.callEvent({ type: 'timeline', item: { ...place, kind: 'silence', stage: 'model', duration_ms: 4200 } })
  const get = await serve({ metrics })
  const lines = (await (await get('/metrics')).text()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'parley_turn_seconds_sum{part="e2e"} 0.9',
      'parley_turn_seconds_bucket{le="1",part="e2e"} 1',
      'parley_turn_seconds_count{part="llm"} 1',
      'parley_silence_seconds_sum{stage="model"} 4.2',
    ]),
  )
  expect(lines.some(line => line.includes('part="tts"'))).toBe(false)
})

it('the metrics of a worker have the waiting runs by kind and the age of the oldest, and none while the database is away', async () => {
  const metrics = new RoleMetrics()
  let isAway = false
  const run = { run_id: 'r', scope: { owner_id: 'o', environment: 'production', tenant_id: 't' } as const }
  metrics.watchQueue({
    waiting: async kind => {
      if (isAway) throw new Error('away')
      const admitted_at = new Date(Date.now() - 90_000).toISOString()
      return kind === 'phone'
        ? [
            { ...run, admitted_at },
            { ...run, admitted_at },
          ]
        : []
    },
  })
  const get = await serve({ metrics })
  const text = async () => (await get('/metrics')).text()
  const there = await text()
  expect(there).toContain('parley_runs_waiting{kind="phone"} 2')
  expect(there).toContain('parley_runs_waiting{kind="chat"} 0')
  expect(Number(/parley_runs_waiting_oldest_seconds\{kind="phone"\} (\S+)/.exec(there)?.[1])).toBeGreaterThanOrEqual(90)
  isAway = true
  const away = await text()
  expect(away).not.toContain('parley_runs_waiting{kind=')
})

it('the metrics include the size of the recording spool and the recordings that were refused', async () => {
  const metrics = new RoleMetrics()
  const spool = { bytes: 512, maxBytes: 1024, refused: { spool_full: 2, disk_full: 0, unwritable: 1 } }
  metrics.watchSpool(() => spool)
  const get = await serve({ metrics })
  const lines = async () => (await (await get('/metrics')).text()).split('\n')
  const expected = [
    'parley_recording_spool_bytes 512',
    'parley_recording_spool_limit_bytes 1024',
    'parley_recordings_refused_total{reason="spool_full"} 2',
    'parley_recordings_refused_total{reason="disk_full"} 0',
    'parley_recordings_refused_total{reason="unwritable"} 1',
  ]
  expect(await lines()).toEqual(expect.arrayContaining(expected))
  spool.refused.spool_full = 3
  expect(await lines()).toContain('parley_recordings_refused_total{reason="spool_full"} 3')
})

it.each([
  [{}, 200, { ready: true, reasons: [] }],
  [{ isDatabaseUp: false }, 503, { ready: false, reasons: ['database_unavailable'] }],
  [{ isDraining: true }, 503, { ready: false, reasons: ['draining'] }],
])('readiness depends on the database and on draining: %j', async (how, status, body) => {
  const get = await serve(how)
  const response = await get('/readyz')
  expect([response.status, await response.json()]).toEqual([status, body])
  expect((await get('/healthz')).status).toBe(200)
  expect((await get('/runs')).status).toBe(404)
})
