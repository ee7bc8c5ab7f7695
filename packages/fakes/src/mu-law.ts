const BIAS = 0x84
const CLIP = 32_635

const SAMPLES = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = ~code & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + BIAS) << ((bits & 0x70) >> 4)) - BIAS
  return (bits & 0x80) === 0 ? magnitude : -magnitude
})

/** G.711 mu-law (ITU-T G.711 table 2b) as 16-bit linear samples. */
export function fromMuLaw(bytes: Uint8Array): Int16Array {
  return Int16Array.from(bytes, code => SAMPLES[code]!)
}

/** G.711 mu-law (ITU-T G.711 table 2a) of 16-bit linear samples. */
export function toMuLaw(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(samples.length)
  for (let i = 0; i < samples.length; i++) bytes[i] = codeOf(samples[i]!)
  return bytes
}

function codeOf(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0
  const magnitude = Math.min(Math.abs(sample), CLIP) + BIAS
  const exponent = 24 - Math.clz32(magnitude)
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f
  return ~(sign | (exponent << 4) | mantissa) & 0xff
}
