/** The bytes that a Range header requests: `from` to `to`, both included; null: all; `unsatisfiable`: none of them exist. */
type ByteRange = { readonly from: number; readonly to: number } | null | 'unsatisfiable'

/**
 * The one range of `size` bytes that `header` requests (RFC 9110, 14.2). A header with several ranges, another unit or an
 * error of syntax is ignored, as the RFC allows: all bytes are sent.
 */
export function parseByteRange(header: string | undefined, size: number): ByteRange {
  const found = header === undefined ? null : /^bytes=([0-9]*)-([0-9]*)$/.exec(header.trim())
  const [, first = '', last = ''] = found ?? []
  if (found === null || (first === '' && last === '')) return null
  if (first === '') {
    const count = Number(last)
    return count === 0 || size === 0 ? 'unsatisfiable' : { from: Math.max(0, size - count), to: size - 1 }
  }
  const from = Number(first)
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < from) return null
  return from >= size ? 'unsatisfiable' : { from, to }
}
