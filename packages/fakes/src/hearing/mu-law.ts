const SAMPLES = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = ~code & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)) - 0x84
  return (bits & 0x80) === 0 ? magnitude : -magnitude
})

/** G.711 mu-law (ITU-T G.711 table 2b) as 16-bit samples. */
export function fromMuLaw(bytes: Uint8Array): Int16Array {
  return Int16Array.from(bytes, code => SAMPLES[code]!)
}
