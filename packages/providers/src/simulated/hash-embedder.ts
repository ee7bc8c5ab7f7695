import type { TextEmbedder } from '../embedding/text-embedder.ts'
import { ProviderError } from '../errors.ts'

/** Words that share this many first letters count as the same word. */
const STEM = 6

/**
 * Embeds a text by its words: each adds 1 or -1 to four components, which a hash of the word chooses. Texts with the same words have
 * close vectors; it knows no synonyms, so it says nothing about how well a real model finds passages.
 */
export class HashEmbedder implements TextEmbedder {
  static readonly DIMENSIONS = 256
  readonly id = 'simulated/hash-1'
  readonly dimensions = HashEmbedder.DIMENSIONS
  #closed = false

  async readiness(): Promise<string | null> {
    return this.#closed ? 'closed' : null
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted()
    if (this.#closed) throw new ProviderError('model_failed', `${this.id} was closed.`, { retryable: false })
    if (texts.some(text => text.trim() === ''))
      throw new ProviderError('text_blank', 'A blank text cannot be embedded; leave it out.')
    return texts.map(vectorOf)
  }

  async close(): Promise<void> {
    this.#closed = true
  }
}

function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(HashEmbedder.DIMENSIONS)
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    let hash = hashOf(word.slice(0, STEM))
    for (let component = 0; component < 4; component++) {
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0
      vector[hash % vector.length]! += hash & 0x10000 ? 1 : -1
    }
  }
  // A text without letters still has a direction.
  if (vector.every(value => value === 0)) vector[hashOf(text) % vector.length] = 1
  return vector
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
