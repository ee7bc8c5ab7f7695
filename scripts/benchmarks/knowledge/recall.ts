import type { Scope } from '@parley/contract'
import { KnowledgeSearch } from '@parley/knowledge'
import { GenerationVectors } from '@parley/knowledge/testing'
import type { TextEmbedder } from '@parley/providers'
import { type ChunkPlace, chunksByWords, passagesAt, searchedGeneration } from '@parley/store'
import type { KnowledgeBase } from './knowledge-base.ts'
import { KINDS, type Question } from './question-set.ts'

const AT = 5

export interface RecallRow {
  readonly what: 'recall'
  /** "all", or the kind of the questions. */
  readonly kind: string
  readonly questions: number
  /** Share of the questions whose document is among the five best, by each ranking. */
  readonly words: number
  readonly vectors: number
  readonly both: number
}

interface Found {
  readonly kind: string
  readonly words: boolean
  readonly vectors: boolean
  readonly both: boolean
}

const never = new AbortController().signal

/** Recall at five of the ranking by words, of the ranking by vectors, and of the search of the product, which fuses them. */
export async function measureRecall(
  base: KnowledgeBase,
  scope: Scope,
  embedder: TextEmbedder,
  questions: readonly Question[],
): Promise<RecallRow[]> {
  const { database } = base
  const db = database.within(scope)
  const search = new KnowledgeSearch({ database, embedders: () => embedder })
  const vectors = new GenerationVectors(database, 1024)
  const { generation } = await searchedGeneration(db, scope)
  const titles = async (places: readonly ChunkPlace[]) =>
    (await passagesAt(db, scope, places)).map(passage => passage.title)
  const one = async ({ kind, text, answeredBy }: Question): Promise<Found> => {
    const [vector] = await embedder.embed([text], never)
    const nearest = { query: vector!, atMost: AT, documents: null }
    const byVectors = await vectors.search(scope, generation!, nearest, Promise.resolve([]))
    const { items } = await search.search(scope, { query: text, topK: AT, minScore: 0, documentIds: null }, never)
    return {
      kind,
      words: (await titles(await chunksByWords(db, text, null, AT))).includes(answeredBy),
      vectors: (await titles(byVectors.hits)).includes(answeredBy),
      both: items.some(({ title }) => title === answeredBy),
    }
  }
  try {
    const found: Found[] = []
    for (const question of questions) found.push(await one(question))
    return ['all', ...KINDS].map(kind =>
      rowOf(
        kind,
        found.filter(result => kind === 'all' || result.kind === kind),
      ),
    )
  } finally {
    await search.close()
    await vectors.close()
  }
}

function rowOf(kind: string, found: readonly Found[]): RecallRow {
  const share = (ranking: 'words' | 'vectors' | 'both') =>
    Number((found.filter(result => result[ranking]).length / found.length).toFixed(3))
  return {
    what: 'recall',
    kind,
    questions: found.length,
    words: share('words'),
    vectors: share('vectors'),
    both: share('both'),
  }
}
