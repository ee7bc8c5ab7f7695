import { spawn } from 'node:child_process'
import { accessSync, constants, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts } from './ports.ts'
import { pathOf } from './skip.ts'

const READY_MS = 60_000
const KILL_AFTER_MS = 3000
const KEY = 'key-of-a-test'
const SECRET = 'secret-of-a-test-with-more-than-32-characters'

/** Path of a livekit-server: `LIVEKIT_SERVER`, on PATH, or in the cache of the tests; undefined: there is none. */
function binary(): string | undefined {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'parley')
  const candidates = [
    process.env.LIVEKIT_SERVER ?? '',
    pathOf('livekit-server') ?? '',
    ...globSync(join(cache, 'livekit-server-*', 'livekit-server'))
      .toSorted()
      .reverse(),
  ]
  return candidates.find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    if (path === '') return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const missing = binary() === undefined

/** What a test with LiveKit needs from the machine, as `requires` says it. */
export const liveKit = {
  missing,
  note: missing
    ? ' (skipped: livekit-server is not installed: go install github.com/livekit/livekit-server/cmd/server@v1.13.5, and name the program in LIVEKIT_SERVER)'
    : '',
}

export interface TestLiveKit {
  /** `LIVEKIT_URL` and the key pair. */
  readonly env: { readonly LIVEKIT_URL: string; readonly LIVEKIT_API_KEY: string; readonly LIVEKIT_API_SECRET: string }
  /** Its log so far. */
  output(): string
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
}

/** A LiveKit server on ports of its own of the loopback interface; resolves when it takes connections. */
export async function startLiveKit(atTestEnd: AtTestEnd = onTestFinished): Promise<TestLiveKit> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-livekit.'))
  const { control, rtp } = await freePeerPorts()
  const configuration = join(directory, 'livekit.yaml')
  writeFileSync(
    configuration,
    JSON.stringify({
      port: control,
      bind_addresses: ['127.0.0.1'],
      rtc: {
        // ICE over TCP would listen on every address.
        tcp_port: 0,
        udp_port: rtp,
        node_ip: '127.0.0.1',
        use_external_ip: false,
        enable_loopback_candidate: true,
        interfaces: { includes: ['lo'] },
        ips: { includes: ['127.0.0.1/32'] },
        // Without it clients ask public servers; with the server's own address ICE never completes.
        stun_servers: ['127.0.0.1:9'],
      },
      keys: { [KEY]: SECRET },
    }),
  )
  const child = spawn(binary()!, ['--dev', '--config', configuration], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  child.stderr.on('data', chunk => {
    output += chunk
  })
  const exited = new Promise<void>(resolve => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  atTestEnd(async () => {
    // The first SIGTERM waits for the participants to leave.
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
    await exited
    clearTimeout(timer)
    rmSync(directory, { recursive: true, force: true })
  })
  const url = `127.0.0.1:${control}`
  const until = Date.now() + READY_MS
  while (!(await answers(`http://${url}`))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`livekit-server does not answer:\n${output}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  return {
    env: { LIVEKIT_URL: `ws://${url}`, LIVEKIT_API_KEY: KEY, LIVEKIT_API_SECRET: SECRET },
    output: () => output,
    kill,
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
}
