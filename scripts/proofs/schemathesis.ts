import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OperationId, operations, streams } from '@parley/contract'
import type { Handlers } from '@parley/control-plane/testing'
import { openWholeApi, type WholeApi } from '@parley/control-plane/testing'
import { startTestServer, testDatabaseOn } from '@parley/store/testing'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** Pinned release: another one may send other requests. */
export const SCHEMATHESIS = '4.32.5'

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]
/** Operations, and the stream. */
export type Ids = readonly string[]
export const IDS: Ids = [...operations, ...streams].map(({ id }) => id)
/** Its edits have more bounds (some 20,000 cases) than all other operations together (3,450). */
export const MOST_BOUNDS: OperationId = 'drafts.edit'
const SHOWN = 8000

type PlantedHandler = 'nothing' | 'a handler that throws'

const THROWS: Partial<Handlers> = { 'agents.list': () => Promise.reject(new TypeError('planted')) }

/** Something to ask of some operations, in one process. */
interface Round {
  readonly name: string
  readonly ids: Ids
  readonly how: readonly string[]
}

/**
 * Schemathesis, which knows of the API only what the OpenAPI document says, asks every operation: at every bound, just
 * outside of it, and `count` times whatever the document allows or forbids. No answer is a failure of the server, and each
 * is one that the document names. An operation that a limit of time cuts off is not tested, and the report does not say so:
 * `seconds` ends the proof as failed instead.
 */
export async function proveBySchemathesis(
  { seed, count, seconds, line, progress }: ProofOptions,
  {
    bounds = IDS,
    anything = IDS,
    planted = 'nothing',
  }: { readonly bounds?: Ids; readonly anything?: Ids; readonly planted?: PlantedHandler } = {},
): Promise<ProofOutcome> {
  const server = await startTestServer()
  const db = await testDatabaseOn(server.templateUrl)
  const api = await openWholeApi({ db }, planted === 'nothing' ? {} : THROWS)
  const until = performance.now() + seconds * 1000
  const startedAt = performance.now()
  let faults = 0
  let cases = 0
  const ask = async (round: Round) => {
    if (round.ids.length === 0) return
    const began = performance.now()
    const report = await runSchemathesis(api, seed, round, Math.max(0, until - performance.now()))
    const tested = figure(report.output, /Tested: (\d+)/)
    const generated = figure(report.output, /([\d,]+) generated/)
    const isGood = report.status === 0 && tested === round.ids.length
    if (!isGood) faults++
    cases += generated
    progress(
      `${round.name}: ${tested} of ${round.ids.length} operations, ${generated} cases${isGood ? '' : ': FAULTS'}`,
    )
    const detail = isGood ? {} : { status: report.status, said: report.output.slice(0, SHOWN) }
    const took = Math.round((performance.now() - began) / 1000)
    const figures = { operations: tested, cases: generated, seconds: took }
    line({ proof: 'schemathesis', round: round.name, ...figures, ok: isGood, ...detail })
  }
  try {
    // Two processes at a time: half of the work is theirs, half the server's.
    await Promise.all(
      lanesOf(bounds, anything, count).map(async rounds => {
        for (const round of rounds) await ask(round)
      }),
    )
    const took = Math.round((performance.now() - startedAt) / 1000)
    return { ok: faults === 0, summary: { operations: IDS.length, cases, faults, seconds: took } }
  } finally {
    await api.close()
    await db.close()
    await server.stop()
  }
}

function lanesOf(bounds: Ids, anything: Ids, examples: number): readonly (readonly Round[])[] {
  const boundsOf = (ids: Ids): Round => ({ name: `bounds of ${ids.length}`, ids, how: ['--phases', 'coverage'] })
  const anythingOf = (ids: Ids): Round => ({
    name: `anything to ${ids.length}`,
    ids,
    how: ['--phases', 'fuzzing', '--max-examples', String(examples)],
  })
  const most = (id: string) => id === MOST_BOUNDS
  const others = (id: string) => id !== MOST_BOUNDS
  return [
    [boundsOf(bounds.filter(most)), anythingOf(anything.filter((_, at) => at % 2 === 0))],
    [boundsOf(bounds.filter(others)), anythingOf(anything.filter((_, at) => at % 2 === 1))],
  ]
}

interface Report {
  /** Null: ended by the limit of time. */
  readonly status: number | null
  readonly output: string
}

async function runSchemathesis(api: WholeApi, seed: number, { ids, how }: Round, withinMs: number): Promise<Report> {
  // Schemathesis stores failing examples in its working directory.
  const directory = mkdtempSync(join(tmpdir(), 'parley-schemathesis-'))
  const args = [
    // One worker each: the parser of Python 3.11, which it asks for its own sources, fails in threads now and then.
    ...['run', `${api.url}/openapi.json`, '--checks', CHECKS.join(','), '--workers', '1', '--seed', String(seed)],
    ...['--no-shrink', '--continue-on-failure', '--warnings', 'off', '--request-timeout', '20', '--no-color'],
    ...['--header', `Authorization: Bearer ${api.keys.admin}`],
    ...how,
    ...ids.flatMap(id => ['--include-operation-id', id]),
  ]
  const child = spawn('schemathesis', args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs)
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

function figure(output: string, pattern: RegExp): number {
  return Number(pattern.exec(output)?.[1]?.replaceAll(',', '') ?? 0)
}

export const proof: Proof = {
  name: 'schemathesis',
  seconds: 3600,
  count: 50,
  run: options => proveBySchemathesis(options),
}
