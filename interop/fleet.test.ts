import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExampleServer, exampleDraft, withOrigin } from '@parley/examples'
import { RunFiles, readScenario, runFleet, shippedScenario } from '@parley/loadtest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AgentServices } from './agent-services.ts'
import { startEngine } from './engine.ts'
import { atLastTestEnd, interopCertificates } from './recipe.ts'

const TOKEN = 'interop234567fleet'
const atEnd = atLastTestEnd()
const folder = mkdtempSync(join(tmpdir(), 'parley-fleet-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The scenarios that ship, with less load for less time: calls that are still up at the end are cut off. */
const SHORT: readonly (readonly [string, readonly string[]])[] = [
  ['answer-storm', ['load.per_second=[2, 4]', 'load.hold_s=1', 'load.drain_s=30']],
  ['set-up-and-tear-down', ['load.per_second=[4, 8]', 'load.hold_s=1', 'load.drain_s=30']],
  ['steady-talk', ['load.calls=2', 'load.ramp_s=0', 'load.hold_s=4', 'load.drain_s=3']],
  ['barge-in', ['load.calls=2', 'load.ramp_s=0', 'load.hold_s=4', 'load.drain_s=3']],
  ['soak', ['load.calls=2', 'load.ramp_s=0', 'load.hold_s=4', 'load.drain_s=3']],
  ['long-talk', ['load.calls=2', 'load.ramp_s=0', 'load.hold_s=4', 'load.drain_s=3']],
]
/** On a busy machine: what only a quiet one can judge. */
const LENIENT = ['goals={}', 'checks.reply_ms=15000', 'checks.gap_ms=1000']

let uri: string
let ca: string
beforeAll(async () => {
  const server = await ExampleServer.open()
  atEnd(() => server.close())
  const services = new AgentServices(server.origin)
  atEnd(() => services.close())
  const draft = withOrigin(exampleDraft('clinic').draft, server.origin)
  await services.rehearse(draft)
  const agent = services.agent('clinic', draft)
  const routes = [{ token: TOKEN, security: 'srtp-required', agent }] as const
  const under = await startEngine({ voice: services.voice, routes }, atEnd)
  uri = under.uri.replace(/^sip:[^@]+@/, `sip:${TOKEN}@`)
  ca = readFileSync((await interopCertificates()).ca, 'utf8')
})

describe('a fleet of phones that calls the example clinic', () => {
  // Two at a time: each waits more than it computes.
  it('every scenario that ships runs in short form, and its calls are good', async () => {
    const [signalling, talking] = [SHORT.slice(0, 2), SHORT.slice(2)]
    await Promise.all([signalling, talking].map(runAll))
  })
})

async function runAll(scenarios: typeof SHORT): Promise<void> {
  for (const [name, changes] of scenarios) {
    const ports = 31_000 + 200 * SHORT.findIndex(([short]) => short === name)
    const scenario = readScenario(readFileSync(shippedScenario(name)!, 'utf8'), [
      ...changes,
      ...LENIENT,
      `generator.rtp_ports={from: ${ports}, to: ${ports + 199}}`,
    ])
    const files = await RunFiles.open(join(folder, name))
    const { summary, samples } = await runFleet({
      scenario,
      target: { uri, ca, systemRoots: false, credentials: null, from: null },
      targetPids: [process.pid],
      onCall: row => files.addCall(row),
    })
    await files.finish(summary, samples, scenario.description)
    await files.close()
    expect(summary.calls.failures, name).toEqual({})
    expect(summary.calls.calls, name).toBeGreaterThanOrEqual(2)
    const csv = readFileSync(join(folder, name, 'calls.csv'), 'utf8')
      .trim()
      .split('\n')
    expect(csv, name).toHaveLength(1 + summary.calls.calls)
    expect(readFileSync(files.report, 'utf8'), name).toContain('<svg')
    expect(samples.at(-1)!.target_rss_bytes, name).toBeGreaterThan(1e7)
  }
}
