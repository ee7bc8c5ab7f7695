export { AMBIENT_SOUNDS, ambientLoop } from './ambient/ambient-sounds.ts'
export { CODEC_NAMES, type CodecName, DEFAULT_CODECS, formatFor, isCodecName } from './codec/codecs.ts'
export { decodePcmu, encodePcmu } from './codec/g711.ts'
export { CallTones } from './dsp/call-tones.ts'
export { Concealment } from './dsp/concealment.ts'
export { FormatConverter } from './dsp/format-converter.ts'
export { FourierTransform } from './dsp/fourier-transform.ts'
export { LowPassFilter } from './dsp/low-pass-filter.ts'
export { resample } from './dsp/resample.ts'
export { Resampler } from './dsp/resampler.ts'
export { ResamplingStream } from './dsp/resampling-stream.ts'
export { filterSymmetric } from './dsp/symmetric-filter.ts'
export { VoiceActivity } from './dsp/voice-activity.ts'
export { lowPass } from './dsp/windowed-sinc.ts'
export { MediaError } from './errors.ts'
export type { PacketIoKind } from './io/choose-packet-io.ts'
export { markDatagrams, thinDatagrams } from './io/datagram-sockets.ts'
export { ThreadedMediaPlane } from './io/threaded-media-plane.ts'
export { LOWEST_PEER_PORT } from './ports/peer-ports.ts'
export { framesIn, readWavLayout, type WavLayout, wavHeader } from './recorder/wav-layout.ts'
export { readWav } from './recorder/wav-reader.ts'
export type { LocalDescriptionState, LocalMedia } from './sdp/local-media.ts'
export { extractSdp } from './sdp/multipart.ts'
export {
  acceptAnswer,
  createOffer,
  type PendingOffer,
  planAnswer,
  previewAnswer,
  refuseOffer,
  withdrawOffer,
} from './sdp/offer-answer.ts'
export { packSourceRules, type SourceRule, type SourceRules } from './session/followed-sources.ts'
export { InlineMediaPlane } from './session/inline-media-plane.ts'
export { type LatenessCounts, LatenessHistogram } from './session/lateness-histogram.ts'
export type {
  DigitSource,
  MediaDirection,
  MediaEvent,
  MediaParameters,
  MediaPlane,
  MediaReport,
  MediaSession,
  MediaSessionOptions,
  MediaStatistics,
  RecordingSplit,
  VoiceDetection,
  VoiceEdge,
} from './session/media-session.ts'
export { VirtualPacketNetwork } from './session/virtual-packet-network.ts'
