import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { type EmbeddingsServer, embedderAt, startEmbeddingsServer } from './embeddings-server.ts'
import { type KnowledgeBase, openKnowledgeBase } from './knowledge-base.ts'
import { documentsAbout, KINDS, largeDocuments, questionsAbout } from './question-set.ts'
import { measureRecall, type RecallRow } from './recall.ts'
import { measureSearches, type SearchRow } from './search-times.ts'
import { measureTurns, type TurnComparison } from './turns.ts'

const PARTS = ['recall', 'search', 'turn'] as const
type Part = (typeof PARTS)[number]

const THINGS = 50
const QUESTIONS = 100
/** Documents of forty passages. */
const LARGE_DOCUMENTS = 2500
const SEARCHES = 500
const ROUNDS = 3
const TURNS = 20

/**
 * Measures the search of documents with an embedding model whose weights the PyPI package `wordllama` ships. It runs as a small
 * OpenAI-compatible server, behind the product's adapter. Three parts; `--only recall,search` selects some.
 *
 * - `recall`: recall at five by words, by vectors and by both, of written questions over 40 documents for each thing.
 *   `[--things 50] [--questions 100]` (of each kind)
 * - `search`: times of searches among documents of forty passages each. `[--documents 2500] [--searches 500]`
 * - `turn`: turns of calls (`bench -- turn`) with documents and without, in turns. `[--rounds 3] [--turns 20]`; it uses the
 *   documents of `search`
 *
 * Planted faults: `--planted words` (the embedding model reads the first word of each text alone), `--planted late` (each search takes
 * 100 ms more).
 */
export const benchmark: Benchmark = {
  name: 'knowledge',
  options: ['only', 'things', 'questions', 'documents', 'searches', 'rounds', 'turns', 'planted'],
  run,
}

async function run(options: BenchmarkOptions): Promise<object> {
  const { option, line, progress } = options
  const parts = partsOf(option('only'))
  const planted = option('planted')
  if (planted !== undefined && planted !== 'words' && planted !== 'late')
    throw new Error('--planted takes "words" or "late"')
  const server = await startEmbeddingsServer(planted === 'words' ? 1 : 0)
  const base = await openKnowledgeBase()
  try {
    const recall = parts.has('recall') ? await recallOf(base, server, options) : []
    for (const row of recall) line({ bench: 'knowledge', ...row })
    const [all] = recall
    let searched: SearchRow | null = null
    let turns: TurnComparison | null = null
    if (parts.has('search') || parts.has('turn')) {
      const documents = largeDocuments(number(options, 'documents', LARGE_DOCUMENTS, 10_000))
      progress(`embedding ${documents.length} documents of forty passages`)
      const scope = await base.environment(documents, embedderAt(server.baseUrl))
      if (parts.has('search')) {
        const queries = mixedQueries(number(options, 'searches', SEARCHES, 10_000))
        progress(`${queries.length} searches`)
        searched = await measureSearches(base, scope, embedderAt(server.baseUrl), queries)
        line({ bench: 'knowledge', ...searched })
      }
      if (parts.has('turn')) {
        const knowledge = {
          databaseUrl: base.ownerUrl,
          embeddingsUrl: server.baseUrl,
          scope,
          lateMs: planted === 'late' ? 100 : 0,
        }
        turns = await measureTurns(knowledge, {
          rounds: number(options, 'rounds', ROUNDS, 100),
          turns: number(options, 'turns', TURNS, 1000),
          line,
          progress,
        })
      }
    }
    return {
      bench: 'knowledge',
      recall_words: all?.words ?? null,
      recall_vectors: all?.vectors ?? null,
      recall_both: all?.both ?? null,
      passages: searched?.passages ?? null,
      search_p95_ms: searched?.p95_ms ?? null,
      ...turns,
    }
  } finally {
    await base.close()
    await server.end()
  }
}

async function recallOf(
  base: KnowledgeBase,
  server: EmbeddingsServer,
  options: BenchmarkOptions,
): Promise<readonly RecallRow[]> {
  const things = number(options, 'things', THINGS, THINGS)
  const documents = documentsAbout(things)
  const questions = questionsAbout(things, number(options, 'questions', QUESTIONS, documents.length))
  options.progress(`embedding ${documents.length} documents, ${questions.length} questions`)
  const embedder = embedderAt(server.baseUrl)
  const scope = await base.environment(documents, embedder)
  return measureRecall(base, scope, embedder, questions)
}

/** Questions of all kinds in turns; no two are alike. */
function mixedQueries(count: number): string[] {
  const perKind = Math.ceil(count / KINDS.length)
  const questions = questionsAbout(THINGS, perKind)
  const mixed = questions.map(
    (_none, index) => questions[(index % KINDS.length) * perKind + Math.floor(index / KINDS.length)]!,
  )
  return mixed.slice(0, count).map(({ text }) => text)
}

function partsOf(only: string | undefined): ReadonlySet<Part> {
  if (only === undefined) return new Set(PARTS)
  const parts = only.split(',').map(name => {
    const part = PARTS.find(known => known === name)
    if (part === undefined) throw new Error(`--only takes ${PARTS.join(',')}, or some of them`)
    return part
  })
  return new Set(parts)
}

function number({ option }: BenchmarkOptions, name: string, otherwise: number, most: number): number {
  const value = Number(option(name) ?? otherwise)
  if (!(Number.isInteger(value) && value >= 1 && value <= most))
    throw new Error(`--${name} takes a whole number from 1 to ${most}`)
  return value
}
