import { randomUUID } from 'node:crypto'
import type { BenchmarkOptions } from '../benchmark.ts'
import { quantile } from '../quantile.ts'
import { round, typicalAndSlow } from './figures.ts'
import { type Burst, burst } from './load.ts'
import { type Ask, BARE_PREFIX } from './messages.ts'
import { seededDatabase } from './seeded-database.ts'
import { ServerLink } from './server-link.ts'

const AT_ONCE = 16
/** Reads per round; lists and writes are a share of it. */
const READS = 2000
const LISTS = 0.15
const WRITES = 0.2
const ROUNDS = 9
const FEW = 100
const MANY = 100_000

interface PipelineSummary {
  readonly read_ratio: number | null
  readonly read_p99_ms: number
  readonly edit_p99_ms: number
  readonly list_p99_ratio: number
}

/**
 * Measures requests per second and latency of a read, a list of 50, a draft edit and an idempotent create through the whole
 * pipeline. Reads and lists are compared with a bare Fastify and pg handler that looks up the same key and rows. The servers
 * take turns, so that other load of the machine affects both; ratios are medians of the rounds.
 */
export async function measurePipeline({ option, line, progress }: BenchmarkOptions): Promise<PipelineSummary> {
  const rounds = Number(option('rounds') ?? ROUNDS)
  const reads = Number(option('reads') ?? READS)
  const lists = Math.ceil(reads * LISTS)
  const writes = Math.ceil(reads * WRITES)
  const many = Number(option('agents') ?? MANY)
  const plantedMs = Number(option('planted') ?? 0)
  progress(`seeding environments with ${FEW} and ${many} agents`)
  const database = await seededDatabase(FEW, many)
  const closers: (() => Promise<void>)[] = [() => database.close()]
  try {
    const { ownerUrl, home, keys } = database
    const whole = await ServerLink.start('whole-process.ts', { ownerUrl, home, plantedMs })
    closers.push(() => whole.end())
    const bare = await ServerLink.start('bare-process.ts', { ownerUrl, home, plantedMs: 0 })
    closers.push(() => bare.end())
    const measure = measurer({ whole: whole.url, bare: bare.url }, rounds, progress)
    const read = await measure('read', reads, keys.few, { whole: () => READ, bare: () => bareOf(READ) })
    const list = await measure('list of 50', lists, keys.few, { whole: () => LIST, bare: () => bareOf(LIST) })
    const large = await measure(`list of 50 in ${many}`, lists, keys.many, {
      whole: () => LIST,
      bare: () => bareOf(LIST),
    })
    const create = await measure('create', writes, keys.few, { whole: creating })
    const edit = await measure('edit', writes, keys.few, { whole: await editing(whole.url, keys.few, writes) })
    for (const row of [read, list, large, create, edit]) line({ bench: 'api', ...row.figures })
    return {
      read_ratio: read.ratio,
      read_p99_ms: read.figures.whole.p99_ms,
      edit_p99_ms: edit.figures.whole.p99_ms,
      list_p99_ratio: round(large.figures.whole.p99_ms / list.figures.whole.p99_ms, 2),
    }
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

const READ: Ask = { method: 'GET', path: '/api/v1/agents/agent-7' }
const LIST: Ask = { method: 'GET', path: '/api/v1/agents?limit=50' }

function bareOf(ask: Ask): Ask {
  return { ...ask, path: BARE_PREFIX + ask.path }
}

function creating(): Ask {
  const body = { template: 'phone_outbound', name: 'Ada' }
  return { method: 'POST', path: '/api/v1/agents', body, idempotencyKey: randomUUID() }
}

/** Each connection edits drafts of its own: a revision has one writer. */
async function editing(url: string, key: string, agents: number): Promise<() => Ask> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const drafts: { agent: string; draft_id: string; revision: number }[] = []
  for (let count = 0; count < agents; count++) {
    const { path, body, idempotencyKey } = creating()
    const init = {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': idempotencyKey! },
      body: JSON.stringify(body),
    }
    const { ref, draft } = (await (await fetch(new URL(path, url), init)).json()) as {
      ref: { id: string }
      draft: { draft_id: string; revision: number }
    }
    drafts.push({ agent: ref.id, ...draft })
  }
  let next = 0
  return () => {
    const draft = drafts[next++ % drafts.length]!
    const edits = [{ type: 'agent.name', name: `Ada ${next}` }]
    const body = { draft_id: draft.draft_id, expected_revision: draft.revision++, edits }
    return { method: 'PATCH', path: `/api/v1/agents/${draft.agent}/draft`, body }
  }
}

interface Figures {
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
}

interface Measured {
  /** How many times as long the whole pipeline takes as the bare handler; null without one. */
  readonly ratio: number | null
  readonly figures: {
    readonly what: string
    readonly whole: Figures
    readonly bare: Figures | null
    readonly ratio: number | null
  }
}

type Asks = { readonly whole: () => Ask; readonly bare?: () => Ask }

function measurer(urls: { whole: string; bare: string }, rounds: number, progress: (text: string) => void) {
  return async (what: string, count: number, key: string, asks: Asks): Promise<Measured> => {
    progress(what)
    const whole: Burst[] = []
    const bare: Burst[] = []
    // The first round warms up.
    for (let round = -1; round < rounds; round++) {
      const one = await burst(urls.whole, key, count, AT_ONCE, asks.whole)
      const other = asks.bare && (await burst(urls.bare, key, count, AT_ONCE, asks.bare))
      if (round < 0) continue
      whole.push(one)
      if (other !== undefined) bare.push(other)
    }
    const ratio =
      bare.length === 0
        ? null
        : round(
            quantile(
              bare.map(({ perSecond }, index) => perSecond / whole[index]!.perSecond),
              0.5,
            ),
            2,
          )
    return {
      ratio,
      figures: { what, whole: figuresOf(whole), bare: bare.length === 0 ? null : figuresOf(bare), ratio },
    }
  }
}

function figuresOf(bursts: readonly Burst[]): Figures {
  const perSecond = quantile(
    bursts.map(burst => burst.perSecond),
    0.5,
  )
  return { per_second: Math.round(perSecond), ...typicalAndSlow(bursts.flatMap(({ tookMs }) => tookMs)) }
}
