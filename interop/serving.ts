import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePeerPorts, rtpRange } from './ports.ts'
import type { AtTestEnd } from './recipe.ts'

const READY_MS = 60_000
const KILL_AFTER_MS = 15_000

/** A `parley serve` process of its own, with a home and ports of its own. */
export interface Serving {
  /** `demo.json`, as it wrote it. */
  readonly demo: Readonly<Record<string, string | null>>
  /** Standard output and error so far. */
  output(): string
  /** Paths of recordings so far. */
  recordings(): string[]
  /** SIGTERM; the exit status, or null when a signal ended it. */
  stop(): Promise<number | null>
}

/** Resolves when it says that it is ready. */
export async function startServing(atTestEnd: AtTestEnd): Promise<Serving> {
  const home = mkdtempSync(join(tmpdir(), 'parley-home.'))
  const ports = await freePeerPorts()
  const child = spawn(process.execPath, [join(import.meta.dirname, '../packages/cli/bin/parley.mjs'), 'serve'], {
    env: {
      ...process.env,
      PARLEY_HOME: home,
      PARLEY_SIP_PORT: String(ports.tls - 1),
      PARLEY_SIP_TLS_PORT: String(ports.tls),
      // baresip asks the DNS for names, and the DNS does not know localhost.
      PARLEY_SIP_DOMAIN: '127.0.0.1',
      PARLEY_RTP_PORTS: rtpRange(ports),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ready = Promise.withResolvers<void>()
  const note = (chunk: Buffer) => {
    output += chunk
    if (output.includes('recordings  ')) ready.resolve()
  }
  child.stdout.on('data', note)
  child.stderr.on('data', note)
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
    rmSync(home, { recursive: true, force: true })
  })
  const timer = setTimeout(() => ready.reject(new Error(`parley serve was not ready:\n${output}`)), READY_MS)
  void exited.then(status => ready.reject(new Error(`parley serve ended with ${status}:\n${output}`)))
  await ready.promise.finally(() => clearTimeout(timer))
  const recordings = join(home, 'recordings')
  return {
    demo: JSON.parse(readFileSync(join(home, 'demo.json'), 'utf8')),
    output: () => output,
    recordings: () => readdirSync(recordings).map(name => join(recordings, name)),
    stop,
  }
}
