import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { AtTestEnd } from './clean-up.ts'
import { freePeerPorts } from './ports.ts'
import { pathOf, requires } from './skip.ts'

/** coturn of Debian. */
export const coturn = requires({ turnserver: 'coturn' })

const READY_MS = 60_000
/** Relayed addresses of one server. */
const RELAYS = 40

/** A TURN server on ports of its own of the loopback interface. */
export interface TurnServer {
  /** Its address of IPv4, for `PARLEY_TURN_URLS`. */
  readonly url: string
  /** Its address of IPv6, for `PARLEY_TURN_URLS`. It relays at an address of IPv4. */
  readonly url6: string
  /** For `PARLEY_TURN_SECRET`. */
  readonly secret: string
  /** Whether it relays at this port. */
  relays(port: number): boolean
  /** Stops its process, which then neither relays nor answers, or lets it go on. */
  pause(isPaused: boolean): void
  /** Its log so far. */
  output(): string
}

/** Resolves when the server takes requests; the test's end ends it. */
export async function startTurnServer(atTestEnd: AtTestEnd = onTestFinished): Promise<TurnServer> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-coturn.'))
  const { rtp } = await freePeerPorts()
  const port = rtp
  const secret = 'shared-with-the-server-of-a-test'
  const child = spawn(
    pathOf('turnserver')!,
    [
      ...['-n', '--log-file=stdout', '--no-tls', '--no-dtls', '--no-cli', '--cli-password=unused', '--fingerprint'],
      ...[
        '--listening-ip=127.0.0.1',
        '--listening-ip=::1',
        '--relay-ip=127.0.0.1',
        '--allow-loopback-peers',
        '--verbose',
      ],
      ...['--use-auth-secret', `--static-auth-secret=${secret}`, '--realm=parley.test', '--no-multicast-peers'],
      ...[`--listening-port=${port}`, `--min-port=${port + 1}`, `--max-port=${port + RELAYS}`, '--relay-threads=1'],
      ...[`--pidfile=${join(directory, 'pid')}`, `--userdb=${join(directory, 'users')}`],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  const ready = Promise.withResolvers<void>()
  const collect = (chunk: Buffer) => {
    output += chunk
    if (/UDP listener opened on : ?127\.0\.0\.1|IPv4\. UDP listener opened on/.test(output)) ready.resolve()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const exited = new Promise<void>(resolve => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
  atTestEnd(async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(directory, { recursive: true, force: true })
  })
  void exited.then(() => ready.reject(new Error(`turnserver ended:\n${output}`)))
  const timer = setTimeout(() => ready.reject(new Error(`turnserver was not ready:\n${output}`)), READY_MS)
  await ready.promise.finally(() => clearTimeout(timer))
  return {
    url: `turn:127.0.0.1:${port}`,
    url6: `turn:[::1]:${port}`,
    secret,
    relays: at => at > port && at <= port + RELAYS,
    pause: isPaused => void child.kill(isPaused ? 'SIGSTOP' : 'SIGCONT'),
    output: () => output,
  }
}
