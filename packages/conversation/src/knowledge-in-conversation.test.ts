import type { Plan } from '@parley/flow'
import type { Ms, VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { KnowledgeSearcher } from './ports.ts'
import { ends, planOf, says } from './testing/plans.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { settle } from './testing/text-conversation-harness.ts'

const GENERATION = '0199a2f0-0000-7000-8000-000000000001'
const PARKING = '0199a2f0-0000-7000-8000-000000000002'

/** Finds one passage that repeats the query, after `delayMs`. */
class ScriptedSearcher implements KnowledgeSearcher {
  readonly queries: Parameters<KnowledgeSearcher['search']>[0][] = []
  delayMs: Ms = 0
  fails = false
  time: VirtualTime | null = null
  async search(query: Parameters<KnowledgeSearcher['search']>[0]) {
    this.queries.push(query)
    if (this.delayMs > 0) await new Promise<void>(resolve => this.time!.at(this.time!.now() + this.delayMs, resolve))
    if (this.fails) throw new Error('the model is away')
    const text = `Found for: ${query.query}`
    return {
      generation_id: GENERATION,
      items: [{ document_id: PARKING, title: 'Parking', chunk_index: 0, text, score: 0.8 }],
    }
  }
}

const KNOWLEDGE = { document_ids: null, top_k: 4, min_score: 0.2 }

function conversation(changes: Partial<Plan> = { knowledge: KNOWLEDGE }, node: object = {}) {
  const searcher = new ScriptedSearcher()
  const plan = {
    ...planOf([{ ...says('hi', 'Hello. How can I help?'), ...node } as ReturnType<typeof says>, ends()]),
    ...changes,
  }
  const harness = new SpokenConversationHarness(plan, { knowledge: searcher })
  searcher.time = harness.fixture.time
  const system = (request = -1) => harness.model.requests.at(request)!.messages[0]!.content
  const facts = (kind: string) =>
    harness.events.flatMap(event => (event.type === 'fact' && event.fact.kind === kind ? [event.fact] : []))
  const greet = async () => {
    await harness.start()
    await harness.hearAll()
  }
  return { harness, searcher, system, facts, greet }
}

describe('an agent with documents', () => {
  it('passages that were found while the caller spoke are in the first request, which waits for nothing', async () => {
    const { harness, searcher, system, facts, greet } = conversation()
    await greet()
    searcher.delayMs = 100
    harness.conversation.hearing('Where can I')
    harness.fixture.time.advance(300)
    harness.conversation.hearing('Where can I park')
    harness.fixture.time.advance(100)
    await settle()
    await harness.say('Where can I park?')
    expect(system()).toContain('[1] Parking\nFound for: Where can I park')
    expect(facts('knowledge')).toEqual([
      {
        kind: 'knowledge',
        node_id: 'hi',
        generation_id: GENERATION,
        items: [{ document_id: PARKING, title: 'Parking', chunk_index: 0, score: 0.8 }],
        search_ms: 100,
        waited_ms: 0,
      },
    ])
    expect(searcher.queries.map(({ query }) => query)).toEqual(['Where can I', 'Where can I park'])
    expect(searcher.queries[0]).toMatchObject({ topK: 4, minScore: 0.2, documentIds: null })
  })

  it('words that arrive one by one are searched every 300 ms at most, the newest ones each time, and all of them at the end of the turn', async () => {
    const { harness, searcher, greet } = conversation()
    await greet()
    const { time } = harness.fixture
    const queries = () => searcher.queries.map(({ query }) => query)
    // One word every 100 ms, reported three times each, as a recogniser revises them.
    const words = 'Where exactly behind the house can I park'.split(' ')
    for (const [index] of words.entries()) {
      const text = words.slice(0, index + 1).join(' ')
      for (const variant of [text, text.toLowerCase(), `${text},`]) harness.conversation.hearing(variant)
      time.advance(100)
    }
    expect(queries()).toEqual([
      'Hello. How can I help? Where',
      'Where exactly behind,',
      'Where exactly behind the house can,',
    ])
    await harness.say('Where exactly behind the house can I park?')
    expect(queries().slice(3)).toEqual(['Where exactly behind the house can I park?'])
    time.advance(1000)
    expect(queries()).toHaveLength(4)
  })

  it('the newest words are searched although no further word arrives', async () => {
    const { harness, searcher, greet } = conversation()
    await greet()
    harness.conversation.hearing('Where can I')
    harness.conversation.hearing('Where can I park')
    expect(searcher.queries).toHaveLength(1)
    harness.fixture.time.advance(299)
    expect(searcher.queries).toHaveLength(1)
    harness.fixture.time.advance(1)
    expect(searcher.queries.map(({ query }) => query)).toEqual(['Where can I', 'Where can I park'])
  })

  it('words that were searched already are not searched again', async () => {
    const { harness, searcher, greet } = conversation()
    await greet()
    for (const text of ['Where can I park', 'where can I park?', 'Where can I park.']) {
      harness.conversation.hearing(text)
      harness.fixture.time.advance(300)
    }
    expect(searcher.queries).toHaveLength(1)
  })

  it('passages for earlier words are used when the search of all words is late', async () => {
    const { harness, searcher, system, greet } = conversation()
    await greet()
    harness.conversation.hearing('Where can I park')
    await settle()
    searcher.delayMs = 5000
    await harness.say('Where can I park my car?')
    expect(system()).toContain('Found for: Where can I park')
  })

  it('a search that begins with the turn delays the request by 150 ms at most', async () => {
    const { harness, searcher, system, facts, greet } = conversation()
    await greet()
    searcher.delayMs = 100
    await harness.say('Where can I park?')
    expect(harness.model.requests).toHaveLength(0)
    harness.fixture.time.advance(100)
    await settle()
    expect(system()).toContain('Found for: Where can I park?')
    expect(facts('knowledge')).toMatchObject([{ waited_ms: 100 }])
    searcher.delayMs = 1000
    await harness.say('And where do I sign up?')
    harness.fixture.time.advance(150)
    await settle()
    expect(harness.model.requests).toHaveLength(2)
    expect(system()).not.toContain('Found for')
  })

  it('the answer of a preemptive generation is used, since the same words get the same passages', async () => {
    const { harness, searcher, greet } = conversation()
    await greet()
    searcher.delayMs = 50
    harness.model.answers([{ say: 'Behind the house.' }])
    harness.conversation.startPreemptiveGeneration('Where can I park')
    harness.fixture.time.advance(50)
    await settle()
    expect(harness.model.requests).toHaveLength(1)
    await harness.say('Where can I park?')
    expect(harness.model.requests).toHaveLength(1)
    expect(harness.speaking.map(({ text }) => text)).toEqual(['Behind the house.'])
    expect(harness.conversation.preemptive).toMatchObject({ asked: 1, used: 1 })
  })

  it('a preemptive generation that is dropped during the search for passages sends no model request', async () => {
    const { harness, searcher, greet } = conversation()
    await greet()
    searcher.delayMs = 50
    harness.conversation.startPreemptiveGeneration('Where can I park')
    harness.conversation.dropPreemptiveGeneration()
    harness.fixture.time.advance(50)
    await settle()
    expect(harness.model.requests).toHaveLength(0)
  })

  it('passages of the turn before are not used for the next one', async () => {
    const { harness, searcher, system, greet } = conversation()
    await greet()
    await harness.say('Where can I park?')
    await harness.hearAll()
    searcher.delayMs = 1000
    harness.conversation.hearing('When do')
    await harness.say('When do you open?')
    harness.fixture.time.advance(150)
    await settle()
    expect(harness.model.requests).toHaveLength(2)
    expect(system()).not.toContain('Found for')
  })

  it('a short answer is searched with the question that it answers', async () => {
    const { harness, searcher, greet } = conversation()
    await greet()
    await harness.say('Parking.')
    expect(searcher.queries.map(({ query }) => query)).toEqual(['Hello. How can I help? Parking.'])
  })

  it('a failed search is one error in the timeline, and the agent answers without documents', async () => {
    const { harness, searcher, system, facts, greet } = conversation()
    await greet()
    searcher.fails = true
    for (const words of ['Where can I park?', 'When do you open?']) {
      await harness.say(words)
      await harness.hearAll()
    }
    expect(harness.model.requests).toHaveLength(2)
    expect(system()).not.toContain('Found for')
    expect(facts('error')).toMatchObject([{ code: 'knowledge_failed' }])
  })

  it.each([
    ['documents of its own', { knowledge: KNOWLEDGE }, { knowledge_base_ids: [PARKING] }, [PARKING], 4],
    [
      'documents of its own, where the agent has none',
      { knowledge: null },
      { knowledge_base_ids: [PARKING] },
      [PARKING],
      3,
    ],
  ] as const)('a node with %s searches those only', async (_name, changes, node, documentIds, topK) => {
    const { harness, searcher, greet } = conversation(changes, node)
    await greet()
    await harness.say('Where can I park?')
    expect(searcher.queries).toMatchObject([{ documentIds, topK }])
  })

  it.each([
    ['without documents', { knowledge: null }, {}],
    ['whose node has an empty list of documents', { knowledge: KNOWLEDGE }, { knowledge_base_ids: [] }],
  ] as const)('an agent %s searches nothing', async (_name, changes, node) => {
    const { harness, searcher, greet } = conversation(changes, node)
    await greet()
    harness.conversation.hearing('Where can I park')
    await harness.say('Where can I park?')
    expect(searcher.queries).toEqual([])
    expect(harness.model.requests).toHaveLength(1)
  })
})
