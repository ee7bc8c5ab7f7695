import { primaryTag } from './request.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from './text-to-speech.ts'

/** What a chunk costs beside its samples. */
const CHUNK_OVERHEAD_BYTES = 200

interface Rendering {
  readonly chunks: readonly SpeechChunk[]
  readonly bytes: number
}

/**
 * `voice` with a memory: what was spoken once is not made again. Keeps whole renderings only, at most `maxBytes` of
 * them (default 16 MiB, 17 minutes), forgetting what was not asked for longest.
 */
export function cached(voice: TextToSpeech, options: { readonly maxBytes?: number } = {}): TextToSpeech {
  const maxBytes = options.maxBytes ?? 16 * 1024 * 1024
  const renderings = new Map<string, Rendering>()
  let total = 0

  function keep(key: string, rendering: Rendering): void {
    if (rendering.bytes > maxBytes) return
    total += rendering.bytes - (renderings.get(key)?.bytes ?? 0)
    renderings.delete(key)
    renderings.set(key, rendering)
    for (const [oldest, { bytes }] of renderings) {
      if (total <= maxBytes) break
      renderings.delete(oldest)
      total -= bytes
    }
  }

  async function* remembered(key: string, known: Rendering, signal: AbortSignal): AsyncGenerator<SpeechChunk> {
    keep(key, known)
    for (const chunk of known.chunks) {
      if (signal.aborted) return
      // A copy: a consumer may hand the samples' buffer on to another thread.
      yield { samples: chunk.samples.slice(), words: chunk.words }
    }
  }

  async function* made(key: string, request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechChunk> {
    const chunks: SpeechChunk[] = []
    let bytes = 2 * key.length
    for await (const chunk of voice.synthesize(request, signal)) {
      bytes += chunk.samples.byteLength + CHUNK_OVERHEAD_BYTES
      if (bytes <= maxBytes) chunks.push({ samples: chunk.samples.slice(), words: chunk.words })
      yield chunk
    }
    if (!signal.aborted && bytes <= maxBytes) keep(key, { chunks, bytes })
  }

  return {
    id: voice.id,
    languages: voice.languages,
    readiness: () => voice.readiness(),
    synthesize(request, signal) {
      const { text, language, voice: name, speed } = request
      const key = JSON.stringify([
        name ?? null,
        name === undefined ? language.toLowerCase() : primaryTag(language),
        speed ?? 1,
        text,
      ])
      const known = renderings.get(key)
      return known === undefined ? made(key, request, signal) : remembered(key, known, signal)
    },
    async close() {
      renderings.clear()
      total = 0
      await voice.close()
    },
  }
}
