/** A parser with the kind of fault that fuzzing is for: one version number it was never tried with. */
export function throwsOnOldVersion(bytes: Uint8Array): void {
  const text = Buffer.from(bytes).toString('latin1')
  const at = text.indexOf('SIP/')
  if (at < 0) return
  const major = text.charCodeAt(at + 4) - 0x30
  if (major !== 0) return
  const minor = text[at + 6]
  if (minor === '9') throw new RangeError('version 0.9 is out of bounds')
}

/** A scanner that makes no progress on one byte. */
export function hangsOnTabs(bytes: Uint8Array): void {
  let at = 0
  while (at < bytes.length) if (bytes[at] !== 0x09 || at % 2 === 0) at++
}
