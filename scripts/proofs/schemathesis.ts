import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OperationId, operations, streams } from '@parley/contract'
import type { Handlers } from '@parley/control-plane/testing'
import { EMBEDDING_MODEL, openWholeApi, type WholeApi } from '@parley/control-plane/testing'
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
export const LARGEST_OPERATION: OperationId = 'drafts.edit'
const MAX_SHOWN = 8000

type PlantedHandler = 'nothing' | 'a handler that throws'

const THROWS: Partial<Handlers> = { 'agents.list': () => Promise.reject(new TypeError('planted')) }

/** One process of Schemathesis, with some of the operations. */
interface Round {
  readonly name: string
  readonly ids: Ids
  readonly options: readonly string[]
}

/**
 * Runs Schemathesis, which tests every operation by the OpenAPI document alone: with values at and just outside of every bound,
 * and with `count` random requests that the document allows or forbids. No answer is 5xx, and each conforms to the document.
 * Schemathesis does not report operations that a time limit skipped, so the proof fails if it takes longer than `seconds`.
 */
export async function proveBySchemathesis(
  { seed, count, seconds, line, progress }: ProofOptions,
  {
    bounds = IDS,
    random = IDS,
    planted = 'nothing',
  }: { readonly bounds?: Ids; readonly random?: Ids; readonly planted?: PlantedHandler } = {},
): Promise<ProofOutcome> {
  const server = await startTestServer()
  const db = await testDatabaseOn(server.templateUrl)
  const api = await openWholeApi({ db }, planted === 'nothing' ? {} : THROWS)
  const until = performance.now() + seconds * 1000
  const startedAt = performance.now()
  let faults = 0
  let cases = 0
  const runRound = async (round: Round) => {
    if (round.ids.length === 0) return
    const began = performance.now()
    const report = await runSchemathesis(api, seed, round, Math.max(0, until - performance.now()))
    const tested = figure(report.output, /Tested: (\d+)/)
    const generated = figure(report.output, /([\d,]+) generated/)
    const isOk = report.status === 0 && tested === round.ids.length
    if (!isOk) faults++
    cases += generated
    progress(`${round.name}: ${tested} of ${round.ids.length} operations, ${generated} cases${isOk ? '' : ': FAULTS'}`)
    const detail = isOk ? {} : { status: report.status, said: report.output.slice(0, MAX_SHOWN) }
    const tookS = Math.round((performance.now() - began) / 1000)
    const figures = { operations: tested, cases: generated, seconds: tookS }
    line({ proof: 'schemathesis', round: round.name, ...figures, ok: isOk, ...detail })
  }
  try {
    // Without an embedding model some operations answer 503, as they should; the proof is about what else they answer.
    await api.world.call('knowledge.configure', { body: { model_identity: EMBEDDING_MODEL } })
    // Two processes at a time, because each of them and the server do half of the work.
    await Promise.all(
      lanesOf(bounds, random, count).map(async rounds => {
        for (const round of rounds) await runRound(round)
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

function lanesOf(bounds: Ids, random: Ids, examples: number): readonly (readonly Round[])[] {
  const boundsOf = (ids: Ids): Round => ({ name: `bounds of ${ids.length}`, ids, options: ['--phases', 'coverage'] })
  const randomOf = (ids: Ids): Round => ({
    name: `random requests to ${ids.length}`,
    ids,
    options: ['--phases', 'fuzzing', '--max-examples', String(examples)],
  })
  const hasMostBounds = (id: string) => id === LARGEST_OPERATION
  const others = (id: string) => id !== LARGEST_OPERATION
  return [[boundsOf(bounds.filter(hasMostBounds)), randomOf(random)], [boundsOf(bounds.filter(others))]]
}

interface Report {
  /** Exit code; null: killed at the time limit. */
  readonly status: number | null
  readonly output: string
}

async function runSchemathesis(
  api: WholeApi,
  seed: number,
  { ids, options }: Round,
  withinMs: number,
): Promise<Report> {
  // Schemathesis stores failing examples in its working directory.
  const directory = mkdtempSync(join(tmpdir(), 'parley-schemathesis-'))
  const args = [
    // One worker per process: with several threads the parser of Python 3.11 sometimes fails.
    ...['run', `${api.url}/openapi.json`, '--checks', CHECKS.join(','), '--workers', '1', '--seed', String(seed)],
    ...['--no-shrink', '--continue-on-failure', '--warnings', 'off', '--request-timeout', '20', '--no-color'],
    ...['--header', `Authorization: Bearer ${api.keys.admin}`],
    ...options,
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
