import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations, streams } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWholeApi, type WholeApi } from './testing/whole-api.ts'

const VERSION = '4.32.5'
const found = spawnSync('schemathesis', ['--version'], { encoding: 'utf8', timeout: 30_000 })
const missing = found.status !== 0
const note = missing ? ` (skipped: schemathesis is not installed: pip install schemathesis==${VERSION})` : ''

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]
/** It ends by itself, later on a slow machine. */
const ENDED_WITHIN_MS = 600_000

interface Report {
  readonly status: number | null
  readonly output: string
}

/** What schemathesis says of an API, with its own idea of what the document promises. */
async function judged(api: WholeApi, ...how: readonly string[]): Promise<Report> {
  // It keeps the examples that failed where it runs.
  const directory = mkdtempSync(join(tmpdir(), 'parley-schemathesis-'))
  const args = [
    // One worker each: the parser of Python 3.11, which it asks for its own sources, fails in threads now and then.
    ...['run', `${api.url}/openapi.json`, '--checks', CHECKS.join(',')],
    ...['--max-examples', '10', '--seed', '1', '--workers', '1', ...how],
    ...['--no-shrink', '--continue-on-failure', '--warnings', 'off', '--request-timeout', '20', '--no-color'],
    ...['--header', `Authorization: Bearer ${api.keys.admin}`],
  ]
  const child = spawn('schemathesis', args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDED_WITHIN_MS)
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  try {
    const status = await new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('close', resolve),
    )
    return { status, output }
  } finally {
    clearTimeout(timer)
    rmSync(directory, { recursive: true, force: true })
  }
}

const IDS: readonly string[] = [...operations, ...streams].map(({ id }) => id)

/** Of its edits there are more bounds than of all other operations: these take half the time. */
const MOST_BOUNDS = 'drafts.edit'

/** Two parts of the operations at the same time. An operation that a limit of time cuts off is not judged at all. */
function judgedInParts(api: WholeApi, isInFirst: (id: string) => boolean, ...how: readonly string[]) {
  const parts = [IDS.filter(isInFirst), IDS.filter(id => !isInFirst(id))]
  const only = (ids: readonly string[]) => ids.flatMap(id => ['--include-operation-id', id])
  return Promise.all(parts.map(ids => judged(api, ...how, ...only(ids))))
}

describe.skipIf(missing)(`schemathesis reads the document and asks${note}`, { timeout: 700_000 }, () => {
  let api: WholeApi

  beforeAll(async () => {
    api = await openWholeApi()
  })
  afterAll(() => api?.close())

  it('for every bound: answers are as the document says, none a failure of the server', async () => {
    const reports = await judgedInParts(api, id => id === MOST_BOUNDS, '--phases', 'coverage')
    for (const { status, output } of reports) expect(status, output.slice(0, 8000)).toBe(0)
    const tested = reports.map(({ output }) => Number(/Tested: (\d+)/.exec(output)?.[1]))
    expect(tested[0]! + tested[1]!).toBe(IDS.length)
  })

  it('for whatever the document allows: answers are as it says, none a failure of the server', async () => {
    const how = ['--phases', 'fuzzing', '--mode', 'positive', '--max-time', '45']
    const isEven = (id: string) => IDS.indexOf(id) % 2 === 0
    for (const { status, output } of await judgedInParts(api, isEven, ...how))
      expect(status, output.slice(0, 8000)).toBe(0)
  })

  it('and notices a handler that throws', async () => {
    const thrower: WholeApi = await openWholeApi({}, { 'agents.list': () => Promise.reject(new TypeError('planted')) })
    const only = ['--include-operation-id', 'agents.list', '--phases', 'coverage', '--max-failures', '1']
    const { status, output } = await judged(thrower, ...only).finally(() => thrower.close())
    expect(status, output.slice(0, 8000)).toBe(1)
    expect(output).toContain('Server error')
  })
})
