import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ResultFrom } from '@parley/client'
import type { ServerOptions, ServerReady } from '../api/messages.ts'
import { seededDatabase } from '../api/seeded-database.ts'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { EXPORTS } from './drafts.ts'
import type { Probed, ProbeOrder } from './probed-process.ts'

const ROUNDS = 5

/**
 * Measures how long operations on drafts of 3 MB block the main thread of the API: the longest CPU time between two turns of its
 * event loop, per operation, in `--rounds 5` (after a warm-up round). `--drafts` selects some of nodes,edges,texts,unplaced.
 * Planted fault: `--planted 200` (ms wasted in each request).
 */
export const benchmark: Benchmark = { name: 'large-drafts', options: ['rounds', 'drafts', 'planted'], run }

async function run(options: BenchmarkOptions): Promise<object> {
  const rounds = Number(options.option('rounds') ?? ROUNDS)
  if (!(rounds > 0 && rounds <= 100)) throw new Error('--rounds takes a number from 1 to 100')
  const drafts = options.option('drafts')?.split(',') ?? Object.keys(EXPORTS)
  if (drafts.some(name => !(name in EXPORTS))) throw new Error(`--drafts takes ${Object.keys(EXPORTS).join(',')}`)
  const database = await seededDatabase(1, 1)
  try {
    const { ownerUrl, home, keys } = database
    const plantedMs = Number(options.option('planted') ?? 0)
    const child = fork(join(import.meta.dirname, 'probed-process.ts'), [
      JSON.stringify({ ownerUrl, home, plantedMs } satisfies ServerOptions),
    ])
    try {
      const [ready] = (await once(child, 'message', { signal: AbortSignal.timeout(60_000) })) as [ServerReady]
      const api = new Api(ready.url, keys.few)
      let worst = 0
      for (const name of drafts) {
        options.progress(name)
        worst = Math.max(worst, await measureDraft(name, { api, child, rounds, line: options.line }))
      }
      return { bench: 'large-drafts', longest_ms: Math.round(worst) }
    } finally {
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.kill()) await ended
    }
  } finally {
    await database.close()
  }
}

class Api {
  readonly #url: string
  readonly #key: string
  #keys = 0

  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  /** Sends a request; throws if the answer is not 2xx. */
  async ask(method: string, path: string, body?: unknown): Promise<Answered> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        'idempotency-key': `large-drafts-${this.#keys++}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        accept: 'application/json, text/event-stream',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
    return { text, body: JSON.parse(text) }
  }
}

interface Answered {
  readonly text: string
  readonly body: unknown
}

/** What names a revision of a draft. */
type DraftPlace = Pick<ResultFrom<'drafts.get'>, 'draft_id' | 'revision'>

interface Measuring {
  readonly api: Api
  readonly child: ChildProcess
  readonly rounds: number
  readonly line: BenchmarkOptions['line']
}

/** Measures all operations on one draft; returns the longest turn, ms. */
async function measureDraft(name: string, { api, child, rounds, line }: Measuring): Promise<number> {
  const { items } = (await api.ask('GET', '/api/v1/environments')).body as ResultFrom<'environments.list'>
  const reference = { tenant_id: items[0]!.tenant_id, kind: 'agent', id: name }
  const path = `/api/v1/agents/${name}`
  const imported = await api.ask('POST', '/api/v1/agents/import', { reference, ...EXPORTS[name] })
  let at: DraftPlace = (imported.body as ResultFrom<'agents.import'>).draft
  const { length } = (await api.ask('GET', `${path}/draft`)).text
  let worst = 0

  const here = () => ({ draft_id: at.draft_id, expected_revision: at.revision })
  const edit = async () => {
    const edits = [{ type: 'agent.name', name: `Revision ${at.revision + 1}` }]
    at = (await api.ask('PATCH', `${path}/draft`, { ...here(), edits })).body as DraftPlace
  }
  const measure = async (what: string, work: () => Promise<unknown>, before?: () => Promise<unknown>) => {
    const found: number[] = []
    for (let round = 0; round <= rounds; round++) {
      await before?.()
      child.send('begin' satisfies ProbeOrder)
      await work()
      const answer = once(child, 'message')
      child.send('end' satisfies ProbeOrder)
      const [{ longestMs }] = (await answer) as [Probed]
      if (round > 0) found.push(longestMs)
    }
    found.sort((a, b) => a - b)
    const [middle, most] = [found[Math.floor(found.length / 2)]!, found.at(-1)!]
    worst = Math.max(worst, most)
    const rounded = { median_ms: Math.round(middle), longest_ms: Math.round(most) }
    line({ bench: 'large-drafts', draft: name, characters: length, what, ...rounded })
  }

  await measure('drafts.get', () => api.ask('GET', `${path}/draft`))
  const call = { name: 'drafts_get', arguments: { params: { agent_id: name } } }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
  await measure('drafts.get as a tool', () => api.ask('POST', '/mcp', message))
  await measure('drafts.edit', edit)
  await measure('drafts.validate', () => api.ask('POST', `${path}/draft/validate`, {}))
  await measure('agents.export', () => api.ask('GET', `${path}/export?draft=true`))
  await measure('publications.publish', () => api.ask('POST', `${path}/publications`, here()), edit)
  await measure('publications.get', () => api.ask('GET', `${path}/publications/0`))
  const discard = () => {
    const { draft_id, revision } = at
    return api.ask('DELETE', `${path}/draft?draft_id=${draft_id}&expected_revision=${revision}`)
  }
  const open = async () => {
    at = (await api.ask('POST', `${path}/draft`, {})).body as DraftPlace
  }
  await measure('drafts.open', open, discard)
  return worst
}
