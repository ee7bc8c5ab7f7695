import { ByteCapped } from './byte-capped.ts'
import { renderingKey } from './request.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from './text-to-speech.ts'

/** What a chunk costs beside its samples. */
const CHUNK_OVERHEAD_BYTES = 200

/**
 * `voice` with a memory: what was spoken once is not made again. Keeps whole renderings only, at most `maxBytes` of
 * them (default 16 MiB, 17 minutes), forgetting what was not asked for longest.
 */
export function cached(voice: TextToSpeech, options: { readonly maxBytes?: number } = {}): TextToSpeech {
  const maxBytes = options.maxBytes ?? 16 * 1024 * 1024
  const renderings = new ByteCapped<readonly SpeechChunk[]>(maxBytes)

  async function* remembered(chunks: readonly SpeechChunk[], signal: AbortSignal): AsyncGenerator<SpeechChunk> {
    for (const chunk of chunks) {
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
    if (!signal.aborted) renderings.set(key, chunks, bytes)
  }

  return {
    id: voice.id,
    languages: voice.languages,
    readiness: language => voice.readiness(language),
    synthesize(request, signal) {
      const key = renderingKey(request)
      const known = renderings.get(key)
      return known === undefined ? made(key, request, signal) : remembered(known, signal)
    },
    ...(voice.warm !== undefined && { warm: request => voice.warm?.(request) }),
    async close() {
      renderings.clear()
      await voice.close()
    },
  }
}
