import { type AudioFormat, NARROWBAND } from '@parley/kernel'
import { PCMA, PCMU } from './g711.ts'
import { G722 } from './g722.ts'
import { L16 } from './l16.ts'
import { OPUS } from './opus.ts'

/** Codecs of the network, one line each. Which of them a trunk offers is set per trunk (`DEFAULT_CODECS`). */
const NETWORK_CODECS = [PCMU, PCMA, G722, OPUS] as const

/** All codecs of a media session. */
export const CODECS = [...NETWORK_CODECS, L16] as const

export type CodecName = (typeof CODECS)[number]['name']

/** Codecs that SDP can agree on. */
export const CODEC_NAMES: readonly CodecName[] = NETWORK_CODECS.map(({ name }) => name)

/** Codecs that are offered and accepted by default, in order of preference. */
export const DEFAULT_CODECS: readonly CodecName[] = ['PCMU', 'PCMA']

/** The format of the highest sample rate among these codecs, which represents the audio of all of them. */
export function formatFor(names: readonly CodecName[]): AudioFormat {
  return names
    .map(name => codecByName(name).format)
    .reduce((widest, format) => (format.sampleRateHz > widest.sampleRateHz ? format : widest), NARROWBAND)
}

export function codecByName(name: CodecName): (typeof CODECS)[number] {
  return CODECS.find(codec => codec.name === name)!
}

/** Whether it is the name of a codec that SDP can agree on. */
export function isCodecName(name: string): name is CodecName {
  return NETWORK_CODECS.some(codec => codec.name === name)
}
