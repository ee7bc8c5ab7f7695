/** The embedding port: texts as vectors whose angles say how near their meanings are. */
export interface TextEmbedder {
  /** Who runs it and what the model is called there: "openai/text-embedding-3-small". Vectors of two ids compare to nothing. */
  readonly id: string
  /** Members of each vector; null until they are known. They never change after that. */
  readonly dimensions: number | null
  /** Why it cannot embed here ("no key"), or null when it can. */
  readiness(): Promise<string | null>
  /**
   * One vector for each text, in their order; they need not have length 1. Rejects with the reason of `signal` when that
   * aborts, otherwise with `ProviderError`: "text_blank" (nothing was asked), "model_unreachable", "model_busy" (both
   * retryable), "model_failed" (its `retryable` tells), "model_refused" (key or quota), "prompt_too_long" (one of the
   * texts).
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>
  /** What is under way fails with "model_failed". */
  close(): Promise<void>
}

/**
 * Texts in batches, in their order: of at most `maxTexts`, and at most `maxCharacters` together; a longer text is a batch
 * by itself.
 */
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
