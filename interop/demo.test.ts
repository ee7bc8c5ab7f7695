import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readWav } from '@parley/media'
import { loudness } from '@parley/phone/testing'
import { describe, it } from 'vitest'
import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts, rtpRange } from './ports.ts'
import { ADMITS_WHEN_LATE, preparedHome, temporaryHome } from './serving.ts'

/** Runs `npm run demo` with these arguments, with this home and a folder for temporary files of its own. */
async function demo(args: readonly string[], home: string, atTestEnd: AtTestEnd) {
  const temporary = mkdtempSync(join(tmpdir(), 'parley-temporary.'))
  atTestEnd(() => rmSync(temporary, { recursive: true, force: true }))
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../packages/cli/bin/parley.mjs'), 'demo', ...args],
    {
      env: {
        ...process.env,
        TMPDIR: temporary,
        PARLEY_HOME: home,
        PARLEY_RTP_PORTS: rtpRange(await freePeerPorts()),
        ...ADMITS_WHEN_LATE,
      },
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
  const status = await exited
  const leftBehind = readdirSync(temporary).filter(name => name.startsWith('parley-demo'))
  return { status, output, errors, leftBehind }
}

// Concurrent, because each test takes 40 s, and three minutes on a machine with much other work, and has a home of its own.
describe('npm run demo', { timeout: 600_000, concurrent: true }, () => {
  it('the demo with --json prints one object that describes a whole call, and leaves no file but its recording', async ({
    expect,
    onTestFinished: atTestEnd,
  }) => {
    const home = temporaryHome(atTestEnd)
    const { status, output, errors, leftBehind } = await demo(['--json'], home, atTestEnd)
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
    expect(leftBehind).toEqual([])
  })

  it('the demo prints the conversation live, then the run as the API returns it', async ({
    expect,
    onTestFinished: atTestEnd,
  }) => {
    const { status, output, errors } = await demo([], await preparedHome(atTestEnd), atTestEnd)
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
