import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { prepareHome } from '@parley/store/testing'
import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts, rtpRange } from './ports.ts'

const READY_MS = 120_000
const KILL_AFTER_MS = 15_000

/** A `parley serve` process of its own, with a home and ports of its own. */
export interface Serving {
  readonly pid: number
  /** `demo.json`, as it wrote it. */
  readonly demo: Readonly<Record<string, string | null>>
  /** Standard output and error so far. */
  output(): string
  /** Paths of recordings so far. */
  recordings(): string[]
  /** Closes the pipe of its output. */
  stopReading(): void
  /** Sends SIGTERM; resolves with the exit code, null if a signal ended the process. */
  stop(): Promise<number | null>
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
}

interface ServingOptions {
  /** Home of an earlier process, or a new one; default: a new one with a migrated database. */
  readonly home?: string
  readonly env?: Readonly<Record<string, string>>
  /** Receives standard output and error as they come. */
  readonly onOutput?: (text: string) => void
}

/** A platform with these takes calls on a machine whose processors are busy with other tests, where it would otherwise refuse them. */
export const ADMITS_WHEN_LATE = { PARLEY_MEDIA_LATENESS_MS: '10000', PARLEY_AUDIO_READ_LATENESS_MS: '10000' }

/** An empty PARLEY_HOME; the test's end removes it, with the database that is stored elsewhere when root runs the test. */
export function temporaryHome(atTestEnd: AtTestEnd): string {
  const home = mkdtempSync(join(tmpdir(), 'parley-home.'))
  atTestEnd(async () => {
    const record = join(home, 'postgres.json')
    const { data } = existsSync(record)
      ? (JSON.parse(readFileSync(record, 'utf8')) as { data: string })
      : { data: home }
    if (!data.startsWith(home)) rmSync(dirname(data), { recursive: true, force: true })
    rmSync(home, { recursive: true, force: true })
  })
  return home
}

/** A new PARLEY_HOME with a migrated database, which the first start would else have to create. */
export async function preparedHome(atTestEnd: AtTestEnd): Promise<string> {
  const home = temporaryHome(atTestEnd)
  await prepareHome(home)
  return home
}

/** Resolves when the process prints that it is ready. */
export async function startServing(atTestEnd: AtTestEnd, options: ServingOptions = {}): Promise<Serving> {
  const home = options.home ?? (await preparedHome(atTestEnd))
  const ports = await freePeerPorts()
  const child = spawn(process.execPath, [join(import.meta.dirname, '../packages/cli/bin/parley.mjs'), 'serve'], {
    env: {
      ...process.env,
      PARLEY_HOME: home,
      PARLEY_HTTP_PORT: '0',
      PARLEY_SIP_PORT: String(ports.tls - 1),
      PARLEY_SIP_TLS_PORT: String(ports.tls),
      // baresip resolves names by DNS only, which does not know localhost.
      PARLEY_SIP_DOMAIN: '127.0.0.1',
      PARLEY_RTP_PORTS: rtpRange(ports),
      ...ADMITS_WHEN_LATE,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ready = Promise.withResolvers<void>()
  const onOutput = (chunk: Buffer) => {
    output += chunk
    options.onOutput?.(String(chunk))
    if (output.includes('Parley is ready.')) ready.resolve()
  }
  child.stdout.on('data', onOutput)
  child.stderr.on('data', onOutput)
  const exited = new Promise<number | null>(resolve => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  const stop = async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
    return exited.finally(() => clearTimeout(timer))
  }
  atTestEnd(async () => {
    await stop()
  })
  const timer = setTimeout(() => ready.reject(new Error(`parley serve was not ready:\n${output}`)), READY_MS)
  void exited.then(status => ready.reject(new Error(`parley serve ended with ${status}:\n${output}`)))
  await ready.promise.finally(() => clearTimeout(timer))
  const recordings = join(home, 'blobs', 'recordings')
  return {
    pid: child.pid!,
    demo: JSON.parse(readFileSync(join(home, 'demo.json'), 'utf8')),
    output: () => output,
    recordings: () =>
      readdirSync(recordings, { recursive: true, encoding: 'utf8' })
        .filter(name => name.endsWith('.wav'))
        .map(name => join(recordings, name)),
    stopReading() {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    stop,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
