import { describe, expect, it, onTestFinished } from 'vitest'
import type { TextEmbedder } from '../text-embedder.ts'

/** The fault with which the service behind an embedder meets its next request. */
type EmbeddingStep =
  /** Sends nothing until the client abandons the request. */
  | { readonly do: 'stall' }
  /** Too many requests (429), with a Retry-After of 0. */
  | { readonly do: 'turn-away' }
  /** The key is not valid (401). */
  | { readonly do: 'refuse' }
  /** The connection breaks. */
  | { readonly do: 'break-off' }

export interface EmbedderUnderTest {
  readonly embedder: TextEmbedder
  /** For the next request that has none yet; requests without one are answered. */
  script(step: EmbeddingStep): void
  /** Requests so far. */
  requests(): number
  /** Requests that the client abandoned before their answers were complete, as counted by the service. */
  abandoned(): number
  /** Ends the service; the embedder is closed by the suite. */
  close(): Promise<void>
}

const never = new AbortController().signal
const TEXTS = ['The clinic opens at nine.', 'La clínica abre a las nueve. 🌞', 'Parking is free.']

/** What every implementation of `TextEmbedder` must do. `make` returns a fresh embedder with a fresh service. */
export function textEmbedderConformance(name: string, make: () => EmbedderUnderTest): void {
  describe(`the embedder ${name}`, () => {
    embeds(make)
    fails(make)
    stops(make)
    refusesWhatIsOver(make)
  })
}

/** What an implementation without a service behind it must do: `make` returns a fresh embedder. */
export function localEmbedderConformance(name: string, make: () => TextEmbedder): void {
  const tested = (): EmbedderUnderTest => ({
    embedder: make(),
    script: () => {},
    requests: () => 0,
    abandoned: () => 0,
    close: async () => {},
  })
  describe(`the embedder ${name}`, () => {
    embeds(tested)
    refusesWhatIsOver(tested)
  })
}

function open(make: () => EmbedderUnderTest): EmbedderUnderTest {
  const tested = make()
  onTestFinished(async () => {
    await tested.embedder.close()
    await tested.close()
  })
  return tested
}

function embeds(make: () => EmbedderUnderTest): void {
  it('returns one vector per text, in the order of the texts', async () => {
    const { embedder } = open(make)
    expect(await embedder.readiness()).toBeNull()
    const vectors = await embedder.embed(TEXTS, never)
    expect(vectors).toHaveLength(3)
    expect(embedder.dimensions).toBe(vectors[0]!.length)
    for (const [index, text] of TEXTS.entries()) {
      const [alone] = await embedder.embed([text], never)
      expect(vectors[index]).toBeInstanceOf(Float32Array)
      expect(vectors[index]).toEqual(alone)
    }
    expect(new Set(vectors.map(vector => vector.join())).size).toBe(3)
  })

  it('embeds more texts than one request can hold', async () => {
    const { embedder } = open(make)
    const texts = Array.from({ length: 2500 }, (_none, index) => `Answer ${index}`)
    const vectors = await embedder.embed(texts, never)
    expect(vectors).toHaveLength(2500)
    const picked = [0, 1, 1234, 2499]
    const alone = await embedder.embed(
      picked.map(index => texts[index]!),
      never,
    )
    expect(picked.map(index => vectors[index])).toEqual(alone)
  })

  it('embeds texts whose total length exceeds one request', async () => {
    const { embedder } = open(make)
    const texts = Array.from({ length: 5 }, (_none, index) => `${index} ${'word '.repeat(18_000)}`)
    expect(await embedder.embed(texts, never)).toHaveLength(5)
  })

  it('sends no request for an empty list, nor for a blank text', async () => {
    const { embedder, requests } = open(make)
    const before = requests()
    expect(await embedder.embed([], never)).toEqual([])
    await expect(embedder.embed(['Hello', ' \n'], never)).rejects.toMatchObject({ code: 'text_blank' })
    expect(requests()).toBe(before)
  })

  it('concurrent requests each get their own vectors', async () => {
    const { embedder } = open(make)
    const [together, ...apart] = await Promise.all([
      embedder.embed(TEXTS, never),
      ...TEXTS.map(text => embedder.embed([text], never)),
    ])
    expect(apart.flat()).toEqual(together)
  })
}

function fails(make: () => EmbedderUnderTest): void {
  it('retries when the service is busy', async () => {
    const { embedder, script } = open(make)
    script({ do: 'turn-away' })
    script({ do: 'turn-away' })
    expect(await embedder.embed(TEXTS, never)).toHaveLength(3)
  })

  it.each<[string, EmbeddingStep, string, boolean]>([
    ['the key is refused', { do: 'refuse' }, 'model_refused', false],
    ['the connection breaks', { do: 'break-off' }, 'model_unreachable', true],
  ])('marks the error as retryable or not when %s', async (_name, step, code, retryable) => {
    const { embedder, script } = open(make)
    script(step)
    await expect(embedder.embed(TEXTS, never)).rejects.toMatchObject({ name: 'ParleyError', code, retryable })
  })

  it('closing fails the request in progress and every later one', async () => {
    const { embedder, script, requests } = open(make)
    const before = requests()
    script({ do: 'stall' })
    const running = embedder.embed(TEXTS, never).catch((error: unknown) => error)
    await expect.poll(() => requests() - before).toBe(1)
    await embedder.close()
    expect(await running).toMatchObject({ code: 'model_failed' })
    await expect(embedder.embed(TEXTS, never)).rejects.toMatchObject({ code: 'model_failed' })
    expect(await embedder.readiness()).toBe('closed')
  })
}

function stops(make: () => EmbedderUnderTest): void {
  it('an aborted request rejects at once with the reason and closes the HTTP request', async () => {
    const { embedder, script, requests, abandoned } = open(make)
    const before = requests()
    const controller = new AbortController()
    script({ do: 'stall' })
    const stopped = embedder.embed(TEXTS, controller.signal).catch((error: unknown) => error)
    await expect.poll(() => requests() - before).toBe(1)
    const reason = new Error('The caller hung up.')
    controller.abort(reason)
    expect(await stopped).toBe(reason)
    await expect.poll(abandoned).toBe(1)
  })
}

function refusesWhatIsOver(make: () => EmbedderUnderTest): void {
  it('a closed embedder refuses every request', async () => {
    const { embedder } = open(make)
    await embedder.close()
    await expect(embedder.embed(TEXTS, never)).rejects.toMatchObject({ code: 'model_failed' })
    expect(await embedder.readiness()).toBe('closed')
  })

  it('a request that was aborted before it began sends nothing', async () => {
    const { embedder, requests } = open(make)
    const before = requests()
    await expect(embedder.embed(TEXTS, AbortSignal.abort('over'))).rejects.toBe('over')
    expect(requests()).toBe(before)
  })
}
