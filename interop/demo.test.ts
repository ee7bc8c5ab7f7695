import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readWav } from '@parley/media'
import { loudness } from '@parley/phone/testing'
import { describe, expect, it } from 'vitest'
import { freePeerPorts, rtpRange } from './ports.ts'
import type { AtTestEnd } from './recipe.ts'
import { temporaryHome } from './serving.ts'

/** `npm run demo` with these arguments, in a home of its own. */
async function demo(args: readonly string[], atTestEnd: AtTestEnd) {
  const home = temporaryHome(atTestEnd)
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../packages/cli/bin/parley.mjs'), 'demo', ...args],
    {
      env: { ...process.env, PARLEY_HOME: home, PARLEY_RTP_PORTS: rtpRange(await freePeerPorts()) },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let [output, errors] = ['', '']
  child.stdout.on('data', chunk => {
    output += chunk
  })
  child.stderr.on('data', chunk => {
    errors += chunk
  })
  const exited = new Promise<number | null>(resolve => child.once('close', resolve))
  atTestEnd(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { home, status: await exited, output, errors }
}

describe('npm run demo', { timeout: 200_000 }, () => {
  it('prints one object of a whole call through the API, with its recording, and leaves nothing else behind', async ({
    onTestFinished: atTestEnd,
  }) => {
    const before = new Set(readdirSync(tmpdir()))
    const { home, status, output, errors } = await demo(['--json'], atTestEnd)
    expect(status, errors).toBe(0)
    expect(output.trimEnd().split('\n')).toHaveLength(1)
    const result = JSON.parse(output)
    expect(Object.keys(result)).toEqual(['run', 'transport', 'utterances', 'digits', 'latency', 'recording'])
    expect(result).toMatchObject({
      run: { state: 'completed', outcome: { kind: 'completed', ended_by: 'agent' } },
      transport: { signalling: 'tls', media: 'srtp' },
      digits: '1042',
      latency: { e2e: { p50: expect.any(Number), p95: expect.any(Number) }, engine: { p50: expect.any(Number) } },
      recording: { channels: 2 },
    })
    expect(result.utterances[0].role).toMatch(/user|agent/)
    expect(result.utterances.some((line: { interrupted: boolean }) => line.interrupted)).toBe(true)
    expect(result.recording.path.startsWith(join(home, 'recordings'))).toBe(true)
    const { channels } = readWav(readFileSync(result.recording.path))
    for (const channel of channels) expect(loudness(channel)).toBeGreaterThan(0)
    expect(readdirSync(tmpdir()).filter(name => name.startsWith('parley-demo') && !before.has(name))).toEqual([])
  })

  it('shows the call as it goes, and what the API has of it', async ({ onTestFinished: atTestEnd }) => {
    const { status, output, errors } = await demo([], atTestEnd)
    expect(status, errors).toBe(0)
    for (const shown of [
      'agent ',
      'caller ',
      'caller entered 1042',
      'outcome    completed: completed, ended by agent',
      'transport  tls + srtp',
      'latency, ms',
      'sip_dial',
      'run.started, run.ended',
      's connected',
    ])
      expect(output).toContain(shown)
  })
})
