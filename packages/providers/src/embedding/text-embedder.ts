/** The embedding port: vectors for texts; the smaller the angle between two vectors, the closer their meanings. */
export interface TextEmbedder {
  /** Provider and model: "openai/text-embedding-3-small". Vectors of different ids cannot be compared. */
  readonly id: string
  /** Length of each vector; null until the first answer, and constant after it. */
  readonly dimensions: number | null
  /** Why the embedder cannot be used ("no key"); null: it is ready. */
  readiness(): Promise<string | null>
  /**
   * One vector for each text, in their order; not normalised. Rejects with the reason of `signal` when it aborts,
   * otherwise with `ProviderError`: "text_blank" (no request was sent), "model_unreachable", "model_busy" (both
   * retryable), "model_failed" (see its `retryable`), "model_refused" (key or quota), "prompt_too_long" (one of the
   * texts).
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>
  /** Requests in progress fail with "model_failed". */
  close(): Promise<void>
}

/** Splits texts, in their order, into batches of at most `maxTexts` and `maxCharacters`; a longer text is its own batch. */
export function batchesOf(
  texts: readonly string[],
  { maxTexts, maxCharacters }: { readonly maxTexts: number; readonly maxCharacters: number },
): string[][] {
  const batches: string[][] = []
  let batch: string[] = []
  let characters = 0
  for (const text of texts) {
    if (batch.length > 0 && (batch.length >= maxTexts || characters + text.length > maxCharacters)) {
      batches.push(batch)
      batch = []
      characters = 0
    }
    batch.push(text)
    characters += text.length
  }
  return batch.length === 0 ? batches : [...batches, batch]
}
