import { type AudioFormat, NARROWBAND } from '@parley/kernel'

/**
 * The mono format of a speech service that suits a call: the highest rate up to that of the call, else the lowest.
 * `formats`: default 8 kHz only.
 */
export function serviceFormat(
  { formats = [NARROWBAND] }: { readonly formats?: readonly AudioFormat[] },
  call: AudioFormat,
): AudioFormat {
  const sorted = formats.filter(({ channels }) => channels === 1).sort((a, b) => a.sampleRateHz - b.sampleRateHz)
  return sorted.findLast(({ sampleRateHz }) => sampleRateHz <= call.sampleRateHz) ?? sorted[0] ?? NARROWBAND
}
