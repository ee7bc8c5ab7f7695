/** Duration of a WAV file, ms; 0: it is incomplete or not a WAV file. */
export function wavMs(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const word = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4))
  if (bytes.length < 44 || word(0) !== 'RIFF' || word(8) !== 'WAVE') return 0
  let bytesPerSecond = 0
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true)
    if (word(at) === 'fmt ') bytesPerSecond = view.getUint32(at + 16, true)
    if (word(at) === 'data') {
      const available = Math.min(size, bytes.length - at - 8)
      return available < size || bytesPerSecond === 0 ? 0 : (available * 1000) / bytesPerSecond
    }
    at += 8 + size + (size % 2)
  }
  return 0
}
