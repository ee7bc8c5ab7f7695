import type { TextEmbedder } from '@parley/providers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requires } from '../../../interop/skip.ts'
import { EMBEDDER_PROGRAMS, embedderAt, startEmbeddingsServer } from './embeddings-server.ts'
import { type KnowledgeBase, openKnowledgeBase } from './knowledge-base.ts'
import { documentsAbout, KINDS, questionsAbout } from './question-set.ts'
import { measureRecall, type RecallRow } from './recall.ts'
import { measureSearches } from './search-times.ts'

const THINGS = 6
const PER_KIND = 8

it('the question set has 2,000 documents of different titles and no two equal questions of a kind', () => {
  const documents = documentsAbout(50)
  expect(new Set(documents.map(({ title }) => title)).size).toBe(2000)
  const titles = new Set(documents.map(({ title }) => title))
  const questions = questionsAbout(50, 100)
  expect(questions).toHaveLength(500)
  for (const { answeredBy } of questions) expect(titles).toContain(answeredBy)
  for (const kind of KINDS)
    expect(new Set(questions.filter(one => one.kind === kind).map(({ answeredBy }) => answeredBy)).size).toBe(100)
})

const embedder = requires(EMBEDDER_PROGRAMS)
describe.skipIf(embedder.missing)(`npm run bench -- knowledge${embedder.note}`, () => {
  const closers: (() => Promise<unknown>)[] = []
  let base: KnowledgeBase
  let search: Awaited<ReturnType<typeof measureSearches>>
  /** Recall of all questions, with an embedding model that reads so many words of each text; 0: all. */
  const recallOf = async (wordsRead: number): Promise<RecallRow> => {
    const server = await startEmbeddingsServer(wordsRead)
    closers.push(() => server.end())
    const model: TextEmbedder = embedderAt(server.baseUrl)
    const scope = await base.environment(documentsAbout(THINGS), model)
    const questions = questionsAbout(THINGS, PER_KIND)
    if (wordsRead === 0)
      search = await measureSearches(
        base,
        scope,
        model,
        questions.map(({ text }) => text),
      )
    const [all] = await measureRecall(base, scope, model, questions)
    return all!
  }
  let sound: RecallRow
  let faulty: RecallRow
  beforeAll(async () => {
    base = await openKnowledgeBase()
    closers.push(() => base.close())
    sound = await recallOf(0)
    faulty = await recallOf(1)
  })
  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })

  it('words and vectors together find more of the answers than either alone', () => {
    expect(sound.questions).toBe(KINDS.length * PER_KIND)
    expect(sound.both).toBeGreaterThan(sound.words)
    expect(sound.both).toBeGreaterThanOrEqual(sound.vectors)
    expect(sound.both).toBeGreaterThan(0.7)
  })

  it('an embedding model that reads the first word of each text alone shows in the recall of vectors', () => {
    expect(faulty.vectors).toBeLessThan(sound.vectors - 0.3)
    expect(faulty.words).toBe(sound.words)
  })

  it('each search is timed, with the request to the embedding model', () => {
    expect(search.passages).toBe(THINGS * 40)
    expect(search.embedding_p50_ms).toBeGreaterThan(0)
    expect(search.p50_ms).toBeGreaterThan(search.embedding_p50_ms)
  })
})
