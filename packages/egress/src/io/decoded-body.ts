import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { CappedBytes } from './capped-bytes.ts'

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/**
 * Decompresses a body, up to `maxBytes`, that a server compressed although the request did not accept it. A truncated body is
 * decompressed as far as possible; a body that cannot be decompressed is returned unchanged.
 */
export async function decodedBody(
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const name = encoding?.trim().toLowerCase() ?? ''
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]!() : undefined
  if (decoder === undefined || body.length === 0) return { body, truncated: false }
  const decompressed = new CappedBytes(maxBytes)
  let truncated = false
  try {
    decoder.end(body)
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      truncated = !decompressed.add(chunk)
      if (truncated) break
    }
  } catch {
    if (decompressed.isEmpty) return { body, truncated: false }
    truncated = true
  }
  return { body: decompressed.bytes, truncated }
}
