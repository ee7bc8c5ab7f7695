import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { CappedBytes } from './capped-bytes.ts'

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/**
 * A body that a server compressed although nobody asked for it, inflated up to `maxBytes`. What was cut before is
 * inflated as far as it goes; what cannot be inflated stays as it is.
 */
export async function decodedBody(
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const name = encoding?.trim().toLowerCase() ?? ''
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]!() : undefined
  if (decoder === undefined || body.length === 0) return { body, truncated: false }
  const inflated = new CappedBytes(maxBytes)
  let truncated = false
  try {
    decoder.end(body)
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      truncated = !inflated.add(chunk)
      if (truncated) break
    }
  } catch {
    if (inflated.isEmpty) return { body, truncated: false }
    truncated = true
  }
  return { body: inflated.bytes, truncated }
}
